// The state of a data directory as it is shown.
import { mkdir, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf } from "../../src/lake/layout.js";
import { readStatus } from "../../src/lake/status.js";
import { temporaryFolder } from "../support/folders.js";
import { drop } from "../support/ingest.js";

test("the size of the inbox includes files next to and below names that are not UTF-8", async () => {
  const root = await temporaryFolder();
  await drop(root, "daily/a.csv", "12345");
  const folder = Buffer.concat([Buffer.from(`${layoutOf(root).inbox}/daily/`), Buffer.from([0xb9, 0xc9])]);
  await mkdir(folder);
  await writeFile(Buffer.concat([folder, Buffer.from("/b.csv")]), "1234567");
  await writeFile(Buffer.concat([folder, Buffer.from([0xff])]), "123");
  expect((await readStatus(await openLake(root))).disk.inbox).toBe(15);
});

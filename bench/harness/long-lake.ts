// A lake with very many data files in its lists, in a bucket. Only those of the newest days exist.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { longList } from "../../test/support/file-lists.js";
import { openLake } from "../../src/lake/lake.js";
import { nameOf, type Layout } from "../../src/lake/layout.js";
import { fileList } from "../../src/lake/manifest.js";
import { openObjects } from "../../src/objects/open.js";
import { withWriteSession } from "../../src/store/session.js";
import { tapehouse, withFolder } from "./lakes.js";

/** Sends a small demo market to the bucket, whose `daily` has this many more files of early days, and a code copy of them. */
export const sendLongLake = (address: string, files: number): Promise<void> =>
  withFolder(async (folder) => {
    await tapehouse("demo", "--data", folder, "--stocks", "300", "--days", "60");
    await withWriteSession(folder, { memory: "256MB" }, async ({ base, publish }) => {
      const { byDate, byCode, codeRanges } = longList("daily", files);
      await publish([fileList("daily", [...byDate, ...base.files("daily").byDate], byCode, codeRanges)], "bench");
    });
    const { layout } = await openLake(folder);
    await sendFiles(layout, address);
  });

/** Sends the data files and the state. The versions come last. */
async function sendFiles(layout: Layout, address: string): Promise<void> {
  const objects = await openObjects(address);
  for (const path of [
    ...(await filesIn(layout.lake)),
    ...(await filesIn(layout.lists)),
    layout.identity,
    ...(await filesIn(layout.versions)),
  ])
    await objects.put(nameOf(layout, path), { path });
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []));
}

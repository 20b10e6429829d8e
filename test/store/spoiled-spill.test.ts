// Spill files of an import are changed or removed during the import: it fails with a message and publishes nothing.
import { readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { openWriter } from "../../src/engine/writer.js";
import { openLake } from "../../src/lake/lake.js";
import { importFiles, type ImportReport } from "../../src/store/import.js";
import { temporaryFolder } from "../support/folders.js";
import { isLong, size } from "../support/size.js";
import { filesBelow } from "../support/upkeep.js";

vi.setConfig({ testTimeout: 180_000 });

const ROWS = size("SPILL_ROWS", 4_000_000);
const UNSORTED = `SELECT lpad((i % 5000)::VARCHAR, 6, '0') || '.SZ' AS ts_code, random() AS adj_factor,
                         DATE '2000-01-01' + (i // 5000)::INT AS trade_date FROM range(${ROWS}) t(i) ORDER BY hash(i)`;

const HARMS: Readonly<Record<string, (path: string) => void>> = {
  "cut to nothing": (path) => truncateSync(path, 0),
  "filled with zeros": (path) => {
    const before = statSync(path);
    truncateSync(path, 0);
    truncateSync(path, before.size);
  },
  removed: rmSync,
};

test.runIf(isLong).each(Object.entries(HARMS))(
  "spill files that are %s during an import make it fail, and the lake stays unchanged",
  async (_how, harm) => {
    const folder = await temporaryFolder();
    const [root, file] = [join(folder, "lake"), join(folder, "factors.parquet")];
    const writer = await openWriter({ memory: "1GB", tempDirectory: join(folder, "spill") });
    await writer.run(`COPY (${UNSORTED}) TO '${file}' (FORMAT parquet)`);
    writer.close();
    const load = (onProgress?: Parameters<typeof importFiles>[4]): Promise<ImportReport> =>
      importFiles(root, entityNamed("adj_factor")!, [file], { map: {}, set: {}, memory: "130MB" }, onProgress);

    const scratch = join(root, "lake/.scratch");
    let harmed = 0;
    const failure = await load((phase) => {
      if (phase === "reading") return;
      for (const entry of readdirSync(scratch, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        harm(join(entry.parentPath, entry.name));
        harmed++;
      }
    }).catch((error: unknown) => error);
    expect(harmed).toBeGreaterThan(1);
    expect(failure).toMatchObject({ name: "OperatorError" });
    expect(String(failure)).toMatch(/cannot be written: .*(?:temporary file|\.scratch)/);
    expect((await openLake(root)).current().version.sequence).toBe(0);
    expect((await filesBelow(root)).filter((path) => path.endsWith(".parquet"))).toEqual([]);
    expect((await load()).rows).toBe(ROWS);
  },
);

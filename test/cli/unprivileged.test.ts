// The server only needs permission to read the lake.
import { chmod, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { AUTHORIZED, tapehouseUnder } from "../support/processes.js";

const NOBODY = "65534";
const isRoot = process.getuid?.() === 0;

describe.skipIf(!isRoot)(
  isRoot ? "a user without permissions" : "a user without permissions (skipped: needs root)",
  () => {
    test("serves a lake that it may only read, and writes nothing there", async () => {
      const [root, temp] = [await temporaryFolder(), await temporaryFolder()];
      await publishRows(root, { weekly: "SELECT '000001.SZ' AS ts_code, DATE '2024-01-05' AS trade_date" });
      const list = async (): Promise<string[]> => (await readdir(root, { recursive: true })).sort();
      const before = await list();
      for (const path of ["", ...before]) await chmod(join(root, path), path.includes(".") ? 0o444 : 0o555);
      await chmod(temp, 0o777);
      const asNobody = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--no-new-privs"];
      const args = ["--data", root, "--temp", join(temp, "own"), "--port", "0", "--no-watch", "--workers", "1"];
      const { told } = tapehouseUnder(asNobody, "serve", ...args);
      const url = await vi.waitFor(
        () => {
          const found = /listening on (\S+)/.exec(told.stdout)?.[1];
          if (!found) throw new Error(told.stderr);
          return found;
        },
        { timeout: 30_000 },
      );
      const answer = await fetch(`${url}/api/v1/entities/weekly`, { headers: AUTHORIZED });
      expect([answer.status, ((await answer.json()) as { count: number }).count]).toEqual([200, 1]);
      expect((await fetch(`${url}/health`)).status).toBe(200);
      expect(await list()).toEqual(before);
    });
  },
);

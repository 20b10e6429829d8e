// The commands of the pages, run as they stand there.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { openWriter } from "../src/engine/writer.js";
import { temporaryFolder } from "./support/folders.js";
import { COMMAND, serveInProcess, until } from "./support/processes.js";

const ROOT = join(import.meta.dirname, "..");
const page = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** The lines of the shell blocks of a page that begin so. */
const lines = (path: string, beginning: string): readonly string[] =>
  [...page(path).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, language]) => language === "" || language === "sh")
    .flatMap((block) => block[2]!.split("\n"))
    .filter((line) => line.startsWith(beginning));

const bars = (day: string): string =>
  `ts_code,trade_date,open,high,low,close,pre_close,change,pct_chg,vol,amount\n` +
  `600519.SH,${day},10,11,9,10.5,10,0.5,5,1000,1050\n`;

let folder: string;

/** Runs a line in the folder, with `tapehouse` for the command of this project. */
function shell(line: string): { readonly status: number | null; readonly stderr: string; readonly stdout: string } {
  const path = `${join(folder, "bin")}:${process.env["PATH"]}`;
  return spawnSync("sh", ["-c", line], { cwd: folder, encoding: "utf8", env: { ...process.env, PATH: path } });
}

beforeAll(async () => {
  folder = await temporaryFolder();
  for (const name of ["bin", "bars", "export/trade_date=20251218"]) mkdirSync(join(folder, name), { recursive: true });
  const words = [process.execPath, ...COMMAND].map((word) => `'${word}'`);
  const command = `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`;
  writeFileSync(join(folder, "bin/tapehouse"), command, { mode: 0o755 });
  writeFileSync(join(folder, "bin/npx"), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
  writeFileSync(join(folder, "daily_20251218.csv"), bars("20251218"));
  writeFileSync(join(folder, "final_20251218.csv"), bars("20251218"));
  writeFileSync(join(folder, "bars/a.csv.gz"), gzipSync(bars("20251219")));
  writeFileSync(join(folder, "stock_basic.csv"), "ts_code,name,list_date\n600519.SH,贵州茅台,20010827\n");
  writeFileSync(join(folder, "export/trade_date=20251218/a.csv"), "ts_code,close,pe\n600519.SH,10.5,20\n");
  const writer = await openWriter({ memory: "256MB", tempDirectory: folder });
  await writer.run(
    `COPY (SELECT '600519.SH' AS asset, DATE '2025-12-18' AS date, 1.5 AS adjust) TO '${folder}/factors.parquet' (FORMAT parquet)`,
  );
  writer.close();
});

describe("the README", () => {
  const commands = lines("README.md", "npx tapehouse").filter((line) => !line.includes(" serve "));

  test("has commands", () => expect(commands.length).toBeGreaterThan(6));

  test.each(commands)("%s", (line) => {
    const { status, stderr } = shell(line);
    expect([status, stderr]).toEqual([0, expect.not.stringContaining("tapehouse:")]);
  });
});

describe("the page for data engineers", () => {
  test("drops that are copied as it says are taken", async () => {
    const commands = ["mkdir ", "cp ", "rsync "]
      .flatMap((beginning) => lines("docs/data-engineers.md", beginning))
      .filter((line) => line.includes("parquet/inbox/"));
    expect(commands).toHaveLength(4);
    const data = join(folder, "parquet");
    const { child, ended } = await serveInProcess(data, "--workers", "1");
    await until(
      "the inbox is there",
      () => spawnSync("test", ["-d", join(data, "inbox/daily_basic")]).status === 0 || undefined,
    );
    const hasRsync = spawnSync("rsync", ["--version"]).status === 0;
    for (const line of commands) {
      const usable = hasRsync ? line : line.replace("rsync -a", "cp -r");
      expect([line, shell(usable).status]).toEqual([line, 0]);
    }
    const taken = (): boolean | undefined => {
      const { drops } = JSON.parse(shell("tapehouse status --json").stdout) as { drops: Record<string, unknown> };
      return Number(drops["imported"]) + Number(drops["same"]) === 3 && drops["refused"] ? true : undefined;
    };
    await until("all are taken", taken);
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
    const status = shell("tapehouse status --json").stdout;
    const { entities } = JSON.parse(status) as { entities: readonly { entity: string; first: string }[] };
    expect(entities).toContainEqual(expect.objectContaining({ entity: "daily_basic", first: "20251218" }));
    for (const line of [
      "tapehouse versions",
      "tapehouse verify",
      "tapehouse verify --repair",
      "tapehouse doctor --port 0",
    ]) {
      expect([line, shell(line).status]).toEqual([line, 0]);
    }
  }, 240_000);
});

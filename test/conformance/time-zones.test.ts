// The time zone of the host must not matter: the same files, imported and served under three zones, give the same days.
import { execFile, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { openWriter } from "../../src/engine/writer.js";
import { temporaryFolder } from "../support/folders.js";
import { TOKEN, type Envelope } from "../support/server.js";
import { isLong } from "../support/size.js";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const ZONES = ["America/New_York", "Asia/Shanghai", "Pacific/Kiritimati"];

/** The last and first minutes of a day, a leap day, a change of the clock in New York, in every way of writing. */
async function makeFiles(folder: string): Promise<string[]> {
  const csv = join(folder, "daily.csv");
  const days = ["20240229", "2024-03-10", "2024/11/03", "2024-12-31 00:00:00", "2024-12-31T23:59:59", "20250101.0"];
  await writeFile(
    csv,
    ["ts_code,trade_date,close", ...days.map((day, i) => `00000${i}.SZ,${day},1`)].join("\n") + "\n",
  );
  const parquet = join(folder, "daily.parquet");
  const writer = await openWriter({ memory: "512MB", tempDirectory: folder });
  await writer.run(
    `COPY (SELECT '600000.SH' AS ts_code, TIMESTAMP '2024-07-01 00:00:00' AS trade_date, 2.0 AS close
           UNION ALL SELECT '600001.SH', TIMESTAMP '2024-07-01 23:30:00', 2.0) TO '${parquet}'`,
  );
  writer.close();
  const json = join(folder, "daily.json");
  await writeFile(json, JSON.stringify([{ ts_code: "300001.SZ", trade_date: Date.UTC(2024, 6, 2), close: 3 }]));
  return [csv, parquet, json];
}

async function answersUnder(zone: string, files: readonly string[]): Promise<readonly unknown[]> {
  const data = await temporaryFolder();
  const env = { ...process.env, TZ: zone, TAPEHOUSE_TOKEN: TOKEN };
  await promisify(execFile)(process.execPath, [MAIN, "import", "daily", ...files, "--data", data], { env });
  const server = spawn(process.execPath, [MAIN, "serve", "--data", data, "--port", "0", "--no-watch"], { env });
  const exited = new Promise((resolve) => server.once("exit", resolve));
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let said = "";
      server.stdout.on("data", (text: Buffer) => {
        said += text.toString();
        const listening = /listening on (\S+)/.exec(said);
        if (listening) resolve(listening[1]!);
      });
      server.once("exit", () => reject(new Error(`the server ended: ${said}`)));
    });
    const ask = async (query: string): Promise<Envelope["rows"]> => {
      const path = `${url}/api/v1/entities/daily?fields=ts_code,trade_date&${query}`;
      return ((await (await fetch(path, { headers: { Authorization: `Bearer ${TOKEN}` } })).json()) as Envelope).rows;
    };
    return [
      await ask("order=asc"),
      await ask("start_date=20240701&end_date=2024-07-01"),
      await ask("trade_date=20241231"),
    ];
  } finally {
    server.kill("SIGTERM");
    await exited;
  }
}

test.runIf(isLong)("days are the same under three time zones, and are those that were written", async () => {
  const files = await makeFiles(await temporaryFolder());
  const all = [
    ["000000.SZ", "20240229"],
    ["000001.SZ", "20240310"],
    ["600000.SH", "20240701"],
    ["600001.SH", "20240701"],
    ["300001.SZ", "20240702"],
    ["000002.SZ", "20241103"],
    ["000003.SZ", "20241231"],
    ["000004.SZ", "20241231"],
    ["000005.SZ", "20250101"],
  ];
  const expected = [all, all.slice(2, 4), all.slice(6, 8)];
  for (const zone of ZONES) expect([zone, await answersUnder(zone, files)]).toEqual([zone, expected]);
});

// A server whose address space is limited, as shared machines do with `ulimit -v`: there is no room for WebAssembly.
import { beforeAll, expect, test, vi } from "vitest";
import { FORMAT_NAMES } from "../../src/catalog/formats.js";
import { temporaryFolder } from "../support/folders.js";
import { factors, publishRows } from "../support/lake.js";
import { AUTHORIZED, tapehouseUnder, urlOf } from "../support/processes.js";

// A loaded machine takes its time to start a process.
vi.setConfig({ testTimeout: 240_000 });

let data: string;

beforeAll(async () => {
  data = await temporaryFolder();
  await publishRows(data, { adj_factor: factors(1000) });
});

async function bodies(url: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const format of FORMAT_NAMES) {
    const response = await fetch(`${url}/api/v1/entities/adj_factor?format=${format}`, { headers: AUTHORIZED });
    expect([format, response.status]).toEqual([format, 200]);
    found[format] = Buffer.from(await response.arrayBuffer()).toString("base64");
  }
  return found;
}

test("a server without memory for WebAssembly sends the same bytes in every format", async () => {
  const temp = await temporaryFolder();
  const serve = (...command: readonly string[]): Promise<string> =>
    urlOf(tapehouseUnder(command, "serve", "--data", data, "--temp", temp, "--port", "0", "--no-watch"));
  const usual = await serve();
  const limited = await serve("bash", "-c", 'ulimit -v 8000000; exec "$@"', "tapehouse");
  expect(await bodies(limited)).toEqual(await bodies(usual));
});

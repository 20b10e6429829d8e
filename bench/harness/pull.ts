// A cheap client: curl, which discards the response.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { TOKEN, type BenchServer } from "./servers.js";

export interface Pull {
  /** Seconds. */
  readonly firstByte: number;
  readonly total: number;
  readonly bytes: number;
}

const AUTHORIZATION = ["-H", `Authorization: Bearer ${TOKEN}`];

/** One request. Throws unless the response is a complete 200. */
export async function pull(url: string): Promise<Pull> {
  const write = "%{http_code} %{time_starttransfer} %{time_total} %{size_download}";
  const args = ["-sS", "-o", "/dev/null", "-w", write, ...AUTHORIZATION, url];
  const { stdout } = await promisify(execFile)("curl", args);
  const [status, firstByte, total, bytes] = stdout.split(" ").map(Number) as [number, number, number, number];
  if (status !== 200) throw new Error(`${url} answered ${status}`);
  return { firstByte, total, bytes };
}

/** Seconds until all URLs were answered on `clients` connections in parallel. Throws unless all responses are 200. */
export async function pullTogether(urls: readonly string[], clients: number): Promise<number> {
  const config = urls.map((url) => `url = "${url}"\noutput = "/dev/null"`).join("\n");
  const parallel = ["-sS", "-f", "--fail-early", "-Z", "--parallel-max", `${clients}`];
  const started = performance.now();
  const running = promisify(execFile)("curl", [...parallel, ...AUTHORIZATION, "-K", "-"]);
  running.child.stdin!.end(config);
  await running;
  return (performance.now() - started) / 1000;
}

/** The JSON of one of our endpoints. */
export async function askJson<T>(server: BenchServer, path: string): Promise<T> {
  const response = await fetch(ourUrl(server, path), { headers: { Authorization: `Bearer ${TOKEN}` } });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return (await response.json()) as T;
}

/** The number of rows of an entity on the server; 0 while the server has no version. */
export async function rowsOf(server: BenchServer, entity: string): Promise<number> {
  const meta = await askJson<{ entities: Record<string, { rows?: number }> }>(server, "meta");
  return meta.entities[entity]?.rows ?? 0;
}

/** The values of the first column of a response. */
export async function firstColumn(server: BenchServer, path: string): Promise<readonly string[]> {
  return (await askJson<{ rows: string[][] }>(server, path)).rows.map((row) => row[0]!);
}

/** The URL of one of our endpoints, e.g. `entities/daily?format=csv`. */
export const ourUrl = (server: BenchServer, path: string): string => `${server.url}/api/v1/${path}`;

/** The URL of a peer with these parameters. */
export const peerUrl = (server: BenchServer, parameters: Readonly<Record<string, string>>): string =>
  `${server.url}/?${new URLSearchParams(parameters).toString()}`;

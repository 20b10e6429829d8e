// A real server on a free port, and a client that knows its token.
import { openPort } from "../../src/http/port.js";
import { readConfig, type ServerConfig } from "../../src/config.js";
import { startServer, type RunningServer } from "../../src/http/server.js";
import { afterEachFile, temporaryFolder } from "./folders.js";

export const TOKEN = "test-token";

export interface TestServer extends RunningServer {
  /** Lines of the server's log: what it warns of and what fails. */
  readonly logged: string[];
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  json(path: string): Promise<Envelope>;
}

export interface Envelope {
  readonly entity: string;
  readonly data_version: string;
  readonly columns: readonly { readonly name: string; readonly dtype: string }[];
  readonly rows: readonly (readonly (string | number | null)[])[];
  readonly count: number;
  readonly truncated: boolean;
  readonly next_cursor: string | null;
}

/** In the order of the contract. */
export const ENVELOPE_KEYS = ["entity", "data_version", "columns", "rows", "count", "truncated", "next_cursor"];

const running: RunningServer[] = [];

/** Threads and processes cannot run the sources as they are. */
const threadEntry = new URL("../../dist/threads/thread.js", import.meta.url);
const sqlEntry = new URL("../../dist/sql/runner.js", import.meta.url);

/** `options` as on the command line, by default without threads that encode; `exact` settings that it cannot express, such as a deadline of a millisecond. */
export async function serve(
  data: string,
  options: Record<string, string> = {},
  exact: Partial<ServerConfig> = {},
  hooks: Parameters<typeof startServer>[2] = {},
): Promise<TestServer> {
  const temp = await temporaryFolder();
  const logged: string[] = [];
  const given = { data, port: "0", temp, logLevel: "warn", encoders: "0", ...options };
  const config = readConfig(given, { TAPEHOUSE_TOKEN: TOKEN });
  const server = await startServer({ ...config, ...exact }, (line) => logged.push(line), {
    threadEntry,
    sqlEntry,
    ...hooks,
  });
  running.push(server);
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(server.url + path, { headers: { Authorization: `Bearer ${TOKEN}`, ...headers } });
  return {
    ...server,
    logged,
    get,
    async json(path) {
      const response = await get(path);
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as Envelope;
    },
  };
}

afterEachFile(async () => {
  for (const server of running.splice(0)) await server.close();
});

/** A port of this machine that was free a moment ago, for other programs. */
export async function freePort(): Promise<number> {
  const port = await openPort("127.0.0.1", 0);
  const address: { port?: number } = {};
  (port as unknown as { getsockname(out: object): void }).getsockname(address);
  port.close();
  return address.port!;
}

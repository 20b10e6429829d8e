// A wide read and a small one of 1.5 million rows of `adj_factor`, whose answers are known; and clients as bare sockets.
import { connect, type Socket } from "node:net";
import { expect } from "vitest";
import { factors, publishRows } from "./lake.js";
import { AUTHORIZED } from "./processes.js";

const WIDE_ROWS = 1_500_000;
export const WIDE = "/api/v1/entities/adj_factor";

/** Publishes the rows. With its copy by code, without which one stock would be a wide read, unless told otherwise. */
export const publishWide = (root: string, codeCopy = true) =>
  publishRows(root, { adj_factor: factors(WIDE_ROWS) }, { codeCopy });

export const get = (url: string, path: string): Promise<Response> =>
  fetch(url + path, { headers: { ...AUTHORIZED, Connection: "close" } });

/** One stock in full, compared value by value. */
export async function expectRightSmall({ url }: { readonly url: string }): Promise<void> {
  const response = await get(url, `${WIDE}?ts_code=000007.SZ`);
  const body = (await response.json()) as { rows: unknown[][] };
  if (response.status !== 200) throw new Error(`${response.status}: ${JSON.stringify(body)}`);
  const first = Date.UTC(2023, 0, 1);
  const dateOf = (day: number): string =>
    new Date(first + day * 86_400_000).toISOString().slice(0, 10).replaceAll("-", "");
  expect(body.rows).toEqual(Array.from({ length: WIDE_ROWS / 5000 }, (_, day) => ["000007.SZ", dateOf(day), 1.5]));
}

/** All rows, counted. */
export async function expectRightWide({ url }: { readonly url: string }): Promise<void> {
  const response = await get(url, `${WIDE}?format=csv&fields=ts_code`);
  let lines = 0;
  for await (const piece of response.body!) for (const byte of piece as Uint8Array) lines += Number(byte === 10);
  expect(lines).toBe(WIDE_ROWS + 1);
}

/** A request without the empty line that ends it. */
export const requestOf = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${AUTHORIZED.Authorization}\r\n`;

export function socketTo(url: string, text: string): Socket {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => undefined).write(text);
  return socket;
}

export const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.once("close", () => resolve()));

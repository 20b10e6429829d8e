// A proxy between a client and a server, which sends faulty versions of responses.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEachFile } from "./folders.js";
import { type TestServer, TOKEN } from "./server.js";

/** Sends a faulty version of the server's response to the client. */
export type Fault = (response: ServerResponse, answer: Response, body: Buffer) => void;

const KEPT = /^(content-type|x-data-version|x-next-cursor|x-truncated|x-answer-to)$/;

/** Sends the head of the server's response, with more headers. */
export const head = (response: ServerResponse, answer: Response, more: Record<string, string> = {}): ServerResponse =>
  response.writeHead(answer.status, {
    ...Object.fromEntries([...answer.headers].filter(([name]) => KEPT.test(name))),
    ...more,
  });

const partOf = (body: Buffer, part: number): Buffer => body.subarray(0, Math.floor(body.length * part));

export const passes: Fault = (response, answer, body) => head(response, answer).end(body);
export const cutsLength =
  (part: number): Fault =>
  (response, answer, body) =>
    head(response, answer, { "Content-Length": String(body.length) }).write(partOf(body, part), () =>
      response.destroy(),
    );
export const cutsChunks =
  (part: number): Fault =>
  (response, answer, body) =>
    head(response, answer).write(partOf(body, part), () => response.destroy());
export const drops: Fault = (response) => response.destroy();
export const refuses =
  (status: number): Fault =>
  (response) =>
    response.writeHead(status, { "Retry-After": "0" }).end();

export interface FaultyProxy {
  readonly url: string;
  /** Those of the next responses; what comes after them passes. */
  readonly faults: Fault[];
  /** The URLs of all requests so far. */
  readonly asked: string[];
  /** Forgets both. */
  reset(): void;
}

const proxies: Server[] = [];

/** It ends with the test file. */
export async function openFaultyProxy(server: TestServer): Promise<FaultyProxy> {
  const [faults, asked]: [Fault[], string[]] = [[], []];
  const proxy = createServer((request, response) => {
    asked.push(request.url!);
    void forward(server, request).then(async (answer) => {
      const body = Buffer.from(await answer.arrayBuffer());
      (faults.shift() ?? passes)(response, answer, body);
    });
  });
  proxies.push(proxy);
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const reset = (): void => void (faults.length = asked.length = 0);
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, faults, asked, reset };
}

async function forward(server: TestServer, request: IncomingMessage): Promise<Response> {
  const { accept, "content-type": type } = request.headers;
  if (request.method === "GET") return server.get(request.url!, { Accept: accept! });
  const body = Buffer.concat(await request.toArray());
  const headers = { Authorization: `Bearer ${TOKEN}`, Accept: accept!, "Content-Type": type! };
  return fetch(server.url + request.url!, { method: "POST", headers, body });
}

afterEachFile(() => {
  for (const proxy of proxies.splice(0)) proxy.close();
});

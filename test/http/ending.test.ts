// The end of a server, with a real client.
import { Agent, createServer, get, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterEach, expect, test, vi } from "vitest";
import { prepareEnd } from "../../src/http/ending.js";

/** More than the buffers of the system between a server and a client that does not read. */
const BODY = Buffer.alloc(64 << 20, "a");

let server: Server;

afterEach(() => {
  vi.useRealTimers();
  server.closeAllConnections();
});

async function request(agent: Agent): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => get({ port, agent, host: "127.0.0.1" }, resolve).on("error", reject));
}

test("a response that is complete for the server, and not yet read by its client, is not cut", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  server = createServer((_req, res) => res.end(BODY));
  const end = prepareEnd(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const response = await request(new Agent({ keepAlive: true }));
  const ended = end({ within: 600_000 });
  await vi.advanceTimersByTimeAsync(1_000);
  expect((await buffer(response)).length).toBe(BODY.length);
  // Now the connection is idle.
  await vi.advanceTimersByTimeAsync(1_000);
  await ended;
});

test("connections that wait for their next request are closed", async () => {
  server = createServer((_req, res) => res.end("done"));
  const end = prepareEnd(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const response = await request(new Agent({ keepAlive: true }));
  expect((await buffer(response)).toString()).toBe("done");
  await end({ within: 600_000 });
  expect(server.listening).toBe(false);
});

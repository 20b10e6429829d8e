import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import type { Response } from "express";
import { expect, test } from "vitest";
import { ClientGoneError, requestSignal } from "../../src/http/respond.js";

/** The signal of a request whose client leaves; it is made before or after that. */
async function signalOfOneWhoLeft(made: "before" | "after"): Promise<AbortSignal> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const asked = once(server, "request") as Promise<[unknown, Response]>;
  client.write("GET / HTTP/1.1\r\nHost: here\r\n\r\n");
  const [, res] = await asked;
  const early = made === "before" ? requestSignal(res, 3_600_000) : null;
  const closed = once(res, "close");
  client.destroy();
  await closed;
  const signal = early ?? requestSignal(res, 3_600_000);
  server.close();
  return signal;
}

test.each(["before", "after"] as const)(
  "a signal made %s the client left is aborted with ClientGoneError",
  async (made) => {
    const signal = await signalOfOneWhoLeft(made);
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toBeInstanceOf(ClientGoneError);
  },
);

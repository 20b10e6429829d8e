// A wire between client and server on which something happens when so many bytes of the answer have passed.
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface Wire {
  readonly url: string;
  /** `act`, which may not fail, is done once, while the wire stands still, when `bytes` of the next answer of the API have arrived. */
  arm(bytes: number, act: () => Promise<void>): void;
  /** Bytes that came from the API since `arm`. */
  passed(): number;
  close(): void;
}

/** All that the server sends arrives, and its end arrives as it was: a clean one as one, a reset as a reset. */
export async function openWire(target: string): Promise<Wire> {
  const { hostname, port } = new URL(target);
  let armed: { readonly bytes: number; readonly act: () => Promise<void> } | null = null;
  let passed = 0;
  const open = new Set<Socket>();

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.once("close", () => open.delete(socket));
    }
    // A browser also asks for an icon, which is no answer that anything happens to.
    let isOfApi = false;
    client.on("data", (asked: Buffer) => (isOfApi = asked.includes("/api/")));
    client.pipe(upstream);
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.resetAndDestroy());
    upstream.on("end", () => client.end());
    client.on("drain", () => upstream.resume());
    upstream.on("data", (bytes: Buffer) => {
      if (isOfApi) passed += bytes.length;
      if (!client.write(bytes)) upstream.pause();
      if (armed === null || passed < armed.bytes) return;
      const { act } = armed;
      armed = null;
      upstream.pause();
      client.removeAllListeners("drain");
      void act().finally(() => {
        client.on("drain", () => upstream.resume());
        upstream.resume();
      });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arm(bytes, act) {
      armed = { bytes, act };
      passed = 0;
    },
    passed: () => passed,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

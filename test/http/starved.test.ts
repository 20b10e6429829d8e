// A server that gets no processor time for long: what it reads late is not the fault of the client.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect } from "vitest";
import { temporaryFolder } from "../support/folders.js";
import { serve } from "../support/server.js";
import { longTest } from "../support/size.js";

/** Longer than the head of a request may take. Milliseconds. */
const BLOCKED = 12_000;

/** Connects, says so, and sends a request a second later; then prints the response. */
const CLIENT = `
  const socket = require("node:net").connect(Number(process.argv[1]), "127.0.0.1", () => {
    console.log("connected");
    setTimeout(() => socket.write("GET /health HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n"), 1000);
  });
  socket.pipe(process.stdout);
`;

longTest(
  "a request that waits while the server may not run is answered, not refused as too slow",
  async () => {
    const server = await serve(await temporaryFolder());
    const client = spawn(process.execPath, ["-e", CLIENT, new URL(server.url).port], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    client.stdout.on("data", (piece: Buffer) => (output += piece.toString()));
    await once(client.stdout, "data");
    // Connections are accepted in their order.
    await server.get("/health");
    const end = performance.now() + BLOCKED;
    while (performance.now() < end);
    await once(client, "close");
    expect(output).toMatch(/^connected\nHTTP\/1\.1 200 OK\r\n/);
  },
  120_000,
);

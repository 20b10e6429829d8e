// Asks a server for the rows of each code, several at once, and reports the codes of the rows: in a worker thread, or in
// a process of a cluster. Plain Node: it runs the built client.
import { parentPort, workerData } from "node:worker_threads";
import { createClient } from "../../dist/client/index.js";

const { url, token, codes } = workerData ?? JSON.parse(process.env.ASKED);
const client = createClient({ url, token });
const found = await Promise.all(
  codes.map(async (code) => {
    const rows = await client.daily({ ts_code: code, limit: 5 }).all();
    return [...new Set(rows.map((row) => row.ts_code))].join();
  }),
);
if (parentPort) parentPort.postMessage(found);
else process.send(found, () => process.disconnect());

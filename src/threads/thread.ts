// A thread that encodes parts of responses.
import { parentPort } from "node:worker_threads";
import { adoptBuffer, giveBuffer, sendable } from "../buffers.js";
import { readAtOnce } from "../copies/open.js";
import { openCopies } from "../copies/opened.js";
import { type Job, type JobResult, READY } from "./messages.js";
import { partEncoder, UnreadablePartError } from "./part.js";

const port = parentPort!;
const encode = partEncoder(openCopies(readAtOnce));
let last: Promise<unknown> = Promise.resolve();

port.on("message", ({ id, part, unused }: Job) => {
  for (const buffer of unused) giveBuffer(adoptBuffer(new Uint8Array(buffer)));
  const encoded = last.then(() => encode(part));
  last = encoded.catch(() => undefined);
  encoded.then(
    ({ numRows, pieces }) => {
      const sent = pieces.map(sendable);
      const result: JobResult = { id, rows: { numRows, pieces: sent } };
      port.postMessage(
        result,
        sent.map(({ buffer }) => buffer),
      );
    },
    (error: unknown) => {
      const sha256 = error instanceof UnreadablePartError ? error.sha256 : null;
      const result: JobResult = { id, failed: error instanceof Error ? error.message : String(error), sha256 };
      port.postMessage(result);
    },
  );
});
port.postMessage(READY);

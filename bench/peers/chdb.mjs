// ClickHouse behind HTTP: `query` is SQL, `format` a format of ClickHouse. Arrow is streamed; other formats are sent at
// once, which is faster there. Each request has its own session.
import { once } from "node:events";
import chdb from "chdb";
import { listen } from "./listen.mjs";

/** The end of an Arrow stream: a continuation marker and the length 0. */
const END = 8;
const first = new chdb.Session();
const idle = [first];

listen(async ({ query, format }, res) => {
  const session = idle.pop() ?? new chdb.Session(first.path);
  try {
    if (format === "ArrowStream") await sendArrow(session.queryStream(query, { format }), res);
    else res.end((await session.queryAsync(query, { format })).bytes());
  } finally {
    idle.push(session);
  }
});

/** Each chunk is a stream of its own; all schemas but the first and all ends but the last are left out. */
async function sendArrow(chunks, res) {
  let end = Buffer.alloc(0);
  let schemaSent = false;
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.raw());
    const start = schemaSent ? 8 + bytes.readInt32LE(4) : 0;
    schemaSent = true;
    end = bytes.subarray(bytes.length - END);
    if (!res.write(bytes.subarray(start, bytes.length - END))) await once(res, "drain");
  }
  res.end(end);
}

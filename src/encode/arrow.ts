// An Arrow IPC stream. Batches are gathered into record batches of about 64k rows, since readers pay for each one.
import { AsyncByteQueue, Field, makeData, RecordBatch, RecordBatchStreamWriter, Schema, Struct } from "apache-arrow";
import { arrowColumn } from "./arrow-column.js";
import { sourcesOf } from "./source.js";
import { NOTHING, type Encoder, type Head } from "./types.js";

const ENOUGH_ROWS = 65_536;
const ENOUGH_BYTES = 16 << 20;

/** Text, codes and dates (`YYYYMMDD`) are Utf8, numbers Float64 and Int64. The schema's metadata name entity and version. */
export function arrowEncoder(head: Head): Encoder {
  const columns = head.columns.map(arrowColumn);
  const fields = head.columns.map(({ name }, i) => new Field(name, columns[i]!.type, true));
  const schema = new Schema(
    fields,
    new Map([
      ["entity", head.entity],
      ["data_version", head.dataVersion],
    ]),
  );
  const sink = new ByteSink();
  const writer = new RecordBatchStreamWriter();
  let rows = 0;

  function flush(): void {
    const children = columns.map((column) => column.take());
    writer.write(new RecordBatch(schema, makeData({ type: new Struct(fields), length: rows, nullCount: 0, children })));
    rows = 0;
  }

  const gatheredBytes = () => columns.reduce((sum, column) => sum + column.byteLength(), 0);

  return {
    contentType: "application/vnd.apache.arrow.stream",
    runsStandAlone: true,
    joint: NOTHING,
    begin() {
      writer.reset(sink, schema);
      return sink.take();
    },
    run: () => ({
      batch(batch) {
        const sources = sourcesOf(batch);
        for (const [i, column] of columns.entries()) column.add(sources[i]!, batch.numRows);
        rows += batch.numRows;
        if (rows >= ENOUGH_ROWS || gatheredBytes() >= ENOUGH_BYTES) flush();
        return sink.take();
      },
      end() {
        if (rows > 0) flush();
        return sink.take();
      },
    }),
    end() {
      writer.close();
      return sink.take();
    },
  };
}

/** Where the Arrow writer puts its bytes, to be taken out without waiting. */
class ByteSink extends AsyncByteQueue {
  private parts: Uint8Array[] = [];

  override write(part: ArrayBufferView): void {
    this.parts.push(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
  }

  /** A copy of all that was written since. */
  take(): Uint8Array {
    const bytes = Buffer.concat(this.parts);
    this.parts = [];
    return bytes;
  }
}

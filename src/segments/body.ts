// A body from its sections: rows that are read and encoded now, and segments of bytes that were kept from earlier bodies.
import type { RecordBatch } from "apache-arrow";
import type { Encoder, Summary } from "../encode/types.js";
import type { Packer } from "./packer.js";
import type { Segment, SegmentStore, SegmentWriter } from "./store.js";

/** A section of a body: rows that one scan gives. */
export interface Section {
  /** The rows; called where they must be read. */
  readonly read: () => AsyncIterable<RecordBatch>;
  /** Null where the section's bytes are not worth keeping. */
  readonly keeping: Keeping | null;
}

interface Keeping {
  /** What the bytes depend on. */
  readonly key: readonly unknown[];
  /** Throws where the files of the section are damaged; called before kept bytes are used in their place. */
  readonly check: () => Promise<void>;
}

interface BodyOptions {
  readonly encoder: Encoder;
  readonly packer: Packer;
  readonly store: SegmentStore;
  /** Called with the number of rows so far, whenever more are sent. */
  readonly onRows: (rows: number) => void;
  /** Called with the number of rows once all sections are sent. */
  readonly summarise: (rows: number) => Summary;
}

/** The bytes of a body, from first to last. Throws what reading throws; the end is missing then. */
export async function* bodyOf(
  sections: Iterable<Section>,
  { encoder, packer, store, onRows, summarise }: BodyOptions,
): AsyncGenerator<Uint8Array> {
  let count = 0;
  /** What must stand before the next rows. */
  let before = encoder.begin();

  async function* sendKept({ check }: Keeping, kept: Segment): AsyncGenerator<Uint8Array> {
    try {
      await check();
      yield* await packer.add(before);
      yield* await packer.flush();
      packer.extent();
      yield* kept.pieces();
      packer.passed(kept.extent);
      count += kept.rows;
    } finally {
      await kept.close();
    }
  }

  async function* sendRows({ read, keeping }: Section): AsyncGenerator<Uint8Array> {
    const segment = encoder.segment();
    const start = count;
    let writer: SegmentWriter | null = null;
    try {
      for await (const batch of read()) {
        if (count === start) {
          yield* await packer.add(before);
          if (keeping) {
            yield* await packer.flush();
            packer.extent();
            writer = await store.create(keeping.key);
          }
        }
        count += batch.numRows;
        onRows(count);
        const ready = await packer.add(segment.batch(batch));
        await writer?.write(ready);
        yield* ready;
      }
      const ready = [...(await packer.add(segment.end())), ...(keeping ? await packer.flush() : [])];
      await writer?.write(ready);
      await writer?.finish({ rows: count - start, extent: packer.extent() });
      yield* ready;
    } finally {
      await writer?.abandon();
    }
  }

  for (const section of sections) {
    const start = count;
    const { keeping } = section;
    const kept = keeping && (await store.open(keeping.key));
    yield* kept ? sendKept(keeping, kept) : sendRows(section);
    onRows(count);
    if (count > start) before = encoder.separator;
  }
  if (count === 0) yield* await packer.add(before);
  yield* await packer.add(encoder.end(summarise(count)));
  yield* await packer.flush();
  packer.extent();
  yield packer.end();
}

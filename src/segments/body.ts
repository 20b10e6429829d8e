// A body from its parts: rows that are read and encoded now, and bytes of whole files that were kept from earlier bodies.
import type { RecordBatch } from "apache-arrow";
import type { Encoder, Summary } from "../encode/types.js";
import type { Packer } from "./packer.js";
import type { Segment, SegmentStore, SegmentWriter } from "./store.js";

export interface Part {
  /** The rows of the part; called where they must be read. */
  readonly read: () => AsyncIterable<RecordBatch>;
  /** Null where the part's bytes are not worth keeping. */
  readonly keeping: Keeping | null;
}

export interface Keeping {
  /** What the bytes depend on. */
  readonly key: readonly unknown[];
  /** Throws where the files of the part are damaged; called before kept bytes are used in their place. */
  readonly check: () => Promise<void>;
}

/**
 * The bytes of a body, from first to last. Throws what reading throws; the end is missing then. `progress.rows` follows
 * the rows that were sent; `summarise` is called with their number once all parts are done.
 */
export async function* bodyOf(
  parts: Iterable<Part>,
  encoder: Encoder,
  packer: Packer,
  store: SegmentStore,
  progress: { rows?: number },
  summarise: (rows: number) => Summary,
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

  async function* sendRows({ read, keeping }: Part): AsyncGenerator<Uint8Array> {
    const run = encoder.run();
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
        progress.rows = count;
        const ready = await packer.add(run.batch(batch));
        await writer?.write(ready);
        yield* ready;
      }
      const ready = [...(await packer.add(run.end())), ...(keeping ? await packer.flush() : [])];
      await writer?.write(ready);
      await writer?.finish({ rows: count - start, extent: packer.extent() });
      yield* ready;
    } finally {
      await writer?.abandon();
    }
  }

  for (const part of parts) {
    const start = count;
    const { keeping } = part;
    const kept = keeping && (await store.open(keeping.key));
    yield* kept ? sendKept(keeping, kept) : sendRows(part);
    progress.rows = count;
    if (count > start) before = encoder.joint;
  }
  if (count === 0) yield* await packer.add(before);
  yield* await packer.add(encoder.end(summarise(count)));
  yield* await packer.flush();
  packer.extent();
  yield packer.end();
}

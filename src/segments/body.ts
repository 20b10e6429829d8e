// A response body, section by section: rows that are read and encoded now, and cached segments.
import type { RecordBatch } from "apache-arrow";
import type { EncodedRows } from "../copies/encoded.js";
import type { Encoder, SegmentEncoder, SomePieces, Summary } from "../encode/types.js";
import type { Packer } from "./packer.js";
import type { Segment, SegmentStore, SegmentWriter } from "./store.js";

/** A section of a body: the rows of one scan. */
export interface Section {
  /** Reads the rows, some of which may be encoded. */
  readonly read: () => AsyncIterable<RecordBatch | EncodedRows>;
  /** Null if the section is not worth caching. */
  readonly caching: Caching | null;
}

interface Caching {
  /** What the bytes depend on. */
  readonly key: readonly unknown[];
  /** Whether they are stored when they are missing for the first time. */
  readonly atOnce: boolean;
  /** Throws if a file of the section is damaged; called before cached bytes are sent. */
  readonly check: () => Promise<void>;
}

interface BodyOptions {
  readonly encoder: Encoder<SomePieces>;
  readonly packer: Packer;
  /** Null: nothing is cached. */
  readonly store: SegmentStore | null;
  /** Called with the number of rows so far, whenever more are sent. */
  readonly onRows: (rows: number) => void;
  /** Called with the number of rows once all sections are sent. */
  readonly summarise: (rows: number) => Summary;
}

/** The bytes of a body, from first to last. If reading fails, it throws and the end is missing. */
export async function* bodyOf(
  sections: Iterable<Section>,
  { encoder, packer, store, onRows, summarise }: BodyOptions,
): AsyncGenerator<Uint8Array> {
  let count = 0;
  /** The bytes before the next rows. */
  let before = encoder.begin();

  async function* sendCached({ check }: Caching, cached: Segment): AsyncGenerator<Uint8Array> {
    try {
      await check();
      yield* await packer.add(before);
      yield* await packer.flush();
      packer.extent();
      for await (const piece of cached.pieces()) {
        if (packer.storesPlain) yield* await packer.add(piece);
        else yield piece;
      }
      packer.passed(cached.extent);
      count += cached.rows;
    } finally {
      await cached.close();
    }
  }

  /** Packs bytes of rows, and stores them too. */
  async function pack(rows: Uint8Array, writer: SegmentWriter | null): Promise<readonly Uint8Array[]> {
    // The packer may use the memory again.
    if (packer.storesPlain) await writer?.write([rows]);
    const ready = await packer.add(rows);
    if (!packer.storesPlain) await writer?.write(ready);
    return ready;
  }

  async function flush(writer: SegmentWriter | null): Promise<readonly Uint8Array[]> {
    const ready = await packer.flush();
    if (!packer.storesPlain) await writer?.write(ready);
    return ready;
  }

  async function* sendRows(read: Section["read"], caching: Caching | null): AsyncGenerator<Uint8Array> {
    let segment: SegmentEncoder<SomePieces> | null = null;
    const start = count;
    let writer: SegmentWriter | null = null;
    try {
      for await (const batch of read()) {
        if (count === start) {
          yield* await packer.add(before);
          if (caching) {
            yield* await packer.flush();
            packer.extent();
            writer = await store!.create(caching.key, caching.atOnce);
          }
        }
        const isEncoded = "pieces" in batch;
        if (!isEncoded) segment ??= encoder.segment(count > start);
        count += batch.numRows;
        onRows(count);
        for await (const bytes of isEncoded ? batch.pieces : segment!.batch(batch)) yield* await pack(bytes, writer);
      }
      const ready: Uint8Array[] = [];
      for await (const bytes of segment?.end() ?? []) ready.push(...(await pack(bytes, writer)));
      if (caching) ready.push(...(await flush(writer)));
      await writer?.finish({ rows: count - start, extent: packer.extent() });
      yield* ready;
    } finally {
      await writer?.abandon();
    }
  }

  try {
    for (const section of sections) {
      const start = count;
      const caching = store && section.caching;
      const cached = caching && (await store.open(caching.key));
      yield* cached ? sendCached(caching, cached) : sendRows(section.read, caching);
      onRows(count);
      if (count > start) before = encoder.separator;
    }
    if (count === 0) yield* await packer.add(before);
    yield* await packer.add(encoder.end(summarise(count)));
    yield* await packer.flush();
    packer.extent();
    yield await packer.end();
  } finally {
    packer.close();
  }
}

// The port to where objects lie: a folder or a bucket. It knows nothing of lakes.

/**
 * Objects by key, in a folder or in a bucket. A key is relative and has slashes, e.g. `state/versions/0000000001.json`.
 * An object is never seen half written. No key may continue another one after a slash, as `a/b` continues `a`. Methods
 * throw UnreachableError if the store does not answer for now, an OperatorError if it refuses (credentials, permissions,
 * no such bucket), and a RangeError for a key that no store can hold.
 */
export interface ObjectStore {
  /** Where it is, for messages: `s3://bucket/prefix`, or the path of a folder. It holds no secret. */
  readonly address: string;
  /** An object and its tag; undefined if there is none, null if its tag is still `unless`. */
  get(key: string, options?: GetOptions): Promise<StoredObject | undefined | null>;
  /** Writes an object of up to 5 GiB, whether or not there is one. A file is read in pieces. Resolves to the new tag. */
  put(key: string, content: Content): Promise<string>;
  /**
   * Writes a small object only if there is none. Resolves to its tag, or to undefined if there is one. If a response is
   * lost, an object of the same content counts as written: different writers should write different content.
   */
  create(key: string, content: Uint8Array): Promise<string | undefined>;
  /**
   * Replaces a small object only if its tag is `tag`. Resolves to the new tag, or to undefined if it was changed or is
   * gone. Throws UnreachableError if a response is lost and the object was then replaced again: it is not known by whom.
   */
  replaceIf(key: string, content: Uint8Array, tag: string): Promise<string | undefined>;
  /** The objects whose keys begin with `prefix`, in the order of their keys, after the key `after`. */
  list(prefix: string, after?: string): AsyncIterable<ListedObject>;
  /** Removes objects; those that do not exist are no error. */
  remove(keys: readonly string[]): Promise<void>;
  close(): void;
}

export interface GetOptions {
  /** First byte and the byte after the last one. A range that ends after the object is an OperatorError. */
  readonly range?: readonly [number, number];
  /** A tag: resolves to null if the object still has it. */
  readonly unless?: string;
  readonly signal?: AbortSignal;
}

export interface StoredObject {
  readonly bytes: Buffer;
  /** Changes whenever the object is replaced. */
  readonly tag: string;
  /** When it was written, by the clock of the store. */
  readonly modified: Date;
}

export interface ListedObject {
  readonly key: string;
  readonly size: number;
  readonly tag: string;
  readonly modified: Date;
}

/** Bytes, or a file of the local disk. */
export type Content = Uint8Array | { readonly path: string };

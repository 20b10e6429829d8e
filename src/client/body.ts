// The bytes of an answer: how fast they have to come, and how many there may be.
import { IncompleteAnswerError, TapehouseError } from "./errors.js";

/** An answer that has begun. */
export interface Body {
  readonly headers: Headers;
  /** The bytes as they come. Throws IncompleteAnswerError where the connection ends before the body does. */
  pieces(): AsyncGenerator<Uint8Array, void>;
  /** Ends what is not wanted. */
  cancel(): Promise<void>;
}

/** A body that brings fewer bytes a second is given up after this many timeouts of waiting. */
const SLOWEST = 1024;
const PATIENCE = 5;

/** A reader of bytes, as Node and browsers have it. */
interface PieceReader {
  read(): Promise<
    { readonly done: false; readonly value: Uint8Array } | { readonly done: true; readonly value?: never }
  >;
  cancel(): Promise<void>;
}

/** `timeout` is the longest wait for the next bytes, in milliseconds. */
export function bodyOf(response: Response, timeout: number, signal: AbortSignal | undefined): Body {
  async function* pieces(): AsyncGenerator<Uint8Array, void> {
    const reader = response.body?.getReader() as PieceReader | undefined;
    if (!reader) return;
    let waited = 0;
    let bytes = 0;
    try {
      for (;;) {
        const began = performance.now();
        const { done, value } = await within(reader.read(), timeout).catch((error: unknown) => {
          signal?.throwIfAborted();
          throw new IncompleteAnswerError("the answer was cut", { cause: error });
        });
        if (done) return;
        waited += performance.now() - began;
        bytes += value.length;
        if (waited > PATIENCE * timeout + (bytes / SLOWEST) * 1000) {
          throw new IncompleteAnswerError(`only ${bytes} bytes came in ${Math.round(waited / 1000)} seconds`);
        }
        yield value;
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  }
  return { headers: response.headers, pieces, cancel: async () => response.body?.cancel() };
}

/** The whole of a body as text. */
export async function textOf(body: Body, mostBytes: number): Promise<string> {
  const decode = decoder();
  let text = "";
  let bytes = 0;
  for await (const piece of body.pieces()) {
    bytes += piece.length;
    if (bytes > mostBytes) throw new TapehouseError(`the answer is longer than ${mostBytes} bytes`);
    text += decode(piece);
  }
  return text + decode();
}

/** Makes a function that decodes UTF-8 piece by piece, and the end without an argument. */
export function decoder(): (piece?: Uint8Array) => string {
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  return (piece) => {
    try {
      return piece ? utf8.decode(piece, { stream: true }) : utf8.decode();
    } catch (error) {
      throw new IncompleteAnswerError("the answer was cut or is no UTF-8", { cause: error });
    }
  };
}

/** The longest time that a timer can be set to. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Rejects if the work takes longer than the given number of milliseconds. */
export async function within<T>(work: Promise<T>, timeout: number): Promise<T> {
  if (timeout > LONGEST_TIMER) return work;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came within ${timeout} milliseconds`)), timeout);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

// Loads DuckDB when it is first needed. Loading takes most of the time of commands that can do without it.
import type * as writerModule from "./writer.js";
import type { Writer, WriterOptions } from "./writer.js";

let writers: Promise<typeof writerModule> | undefined;

export async function openWriter(options: WriterOptions): Promise<Writer> {
  writers ??= loaded(() => import("./writer.js"));
  return (await writers).openWriter(options);
}

/**
 * Loads modules. Node reports twice that a native one cannot be loaded, and one of the two rejections has no handler. It
 * may come after this function has thrown, so the listener stays then, until the process ends.
 */
export async function loaded<T>(load: () => Promise<T>): Promise<T> {
  const ignore = (): void => undefined;
  process.on("unhandledRejection", ignore);
  const result = await load();
  process.off("unhandledRejection", ignore);
  return result;
}

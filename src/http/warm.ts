// What the first request of a process would otherwise wait for: code that is compiled when it runs, the row kernel, and
// the indexes of serving copies.
import { giveBuffer } from "../buffers.js";
import { entityNamed } from "../catalog/index.js";
import { ENCODERS } from "../encode/index.js";
import type { FileList } from "../lake/manifest.js";
import { firstRows, rowsOf, scanOf } from "../query/scan.js";
import type { Context } from "./context.js";

/** Rows that are read and encoded in each format and round. */
const ROWS = 32_768;
const ROUNDS = 3;

/**
 * Takes about `within` milliseconds at most, also where the newest file is still being fetched then. Failures do not matter
 * here: a request that has them reports them.
 */
export async function warmUp(context: Pick<Context, "lake" | "reader">, within: number): Promise<void> {
  const signal = AbortSignal.timeout(within);
  const isOver = new Promise((resolve) => signal.addEventListener("abort", resolve));
  await Promise.race([encodeNewest(context, signal), isOver]);
}

async function encodeNewest({ lake, reader }: Pick<Context, "lake" | "reader">, signal: AbortSignal): Promise<void> {
  const { version, files } = lake.current();
  const lists = Object.keys(version.lists).map(files);
  const [largest] = lists.toSorted((a, b) => b.rows - a.rows);
  try {
    await reader.prepare(
      lists.flatMap(({ byCode, byDate }) => [...byCode, ...byDate]),
      signal,
    );
    for (let round = 0; round < ROUNDS && largest !== undefined; round++) {
      for (const format of ["json", "arrow", "csv"] as const) await encodeSome({ reader }, largest, format, signal);
    }
  } catch {
    return;
  }
}

async function encodeSome(
  { reader }: Pick<Context, "reader">,
  { entity: name, byDate }: FileList,
  format: "json" | "arrow" | "csv",
  signal: AbortSignal,
): Promise<void> {
  const entity = entityNamed(name);
  const newest = byDate.at(-1);
  if (entity === undefined || newest === undefined) return;
  const { columns } = entity;
  const segment = ENCODERS[format]({ entity: name, dataVersion: "", columns }).segment();
  const scan = firstRows(scanOf([newest], rowsOf(columns)), ROWS);
  for await (const batch of reader.read({ columns, scans: [scan] }, signal)) {
    for (const bytes of segment.batch(batch)) giveBuffer(bytes);
  }
  for (const bytes of segment.end()) giveBuffer(bytes);
}

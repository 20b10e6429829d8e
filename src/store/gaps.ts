// Records and resolves gaps. A running server shows the change with the next request.
import { faultOfCode } from "../catalog/codes.js";
import type { Entity } from "../catalog/types.js";
import { parseDate } from "../dates.js";
import { OperatorError } from "../errors.js";
import { encodeGaps, readRecordedGaps, type RecordedGap } from "../lake/gaps.js";
import { layoutOf } from "../lake/layout.js";
import { writeDurably } from "./durable.js";
import { withLock } from "./lock.js";
import { explain } from "./session.js";

interface NewGap {
  /** `YYYYMMDD` or `YYYY-MM-DD`, inclusive. */
  readonly start: string;
  readonly end: string;
  /** Null for a gap of all codes. */
  readonly code: string | null;
  /** Snake case, e.g. `timeout`. */
  readonly kind: string;
}

/** Records a gap; resolves to it with its number. */
export async function addGap(root: string, entity: Entity, gap: NewGap, now: Date): Promise<RecordedGap> {
  const gap_start = dateOf("start", gap.start);
  const gap_end = dateOf("end", gap.end);
  if (gap_start > gap_end) throw new OperatorError(`the gap starts on ${gap_start} but ends on ${gap_end}`, 2);
  const fault = gap.code === null ? null : faultOfCode(entity, gap.code);
  if (fault) {
    const way = fault.near === undefined ? "write one such as 600519.SH" : `did you mean ${fault.near}?`;
    throw new OperatorError(`--code: "${gap.code}" ${fault.why}; ${way}`, 2);
  }
  if (!/^[a-z][a-z0-9_]{0,39}$/.test(gap.kind)) {
    throw new OperatorError(`"${gap.kind}" is not a valid kind; write snake_case such as timeout`, 2);
  }
  const wanted = { entity: entity.name, ts_code: gap.code, gap_start, gap_end, kind: gap.kind };
  let added: RecordedGap | undefined;
  await change(root, (gaps) => {
    const same = gaps.find((other) => other.resolved === null && isSame(other, wanted));
    if (same) throw new OperatorError(`this gap is already recorded, as number ${same.id}`);
    added = { id: (gaps.at(-1)?.id ?? 0) + 1, ...wanted, recorded: now.toISOString(), resolved: null };
    return [...gaps, added];
  });
  return added!;
}

/** Resolves a recorded gap: it is no longer served, but stays listed as resolved. */
export async function resolveGap(root: string, id: number, now: Date): Promise<void> {
  await change(root, (gaps) => {
    const found = gaps.find((gap) => gap.id === id);
    if (!found) throw new OperatorError(`there is no gap number ${id}; see: tapehouse gaps list`);
    if (found.resolved !== null) throw new OperatorError(`gap number ${id} was already resolved, ${found.resolved}`);
    return gaps.map((gap) => (gap === found ? { ...gap, resolved: now.toISOString() } : gap));
  });
}

function isSame(gap: RecordedGap, wanted: Omit<RecordedGap, "id" | "recorded" | "resolved">): boolean {
  return (Object.keys(wanted) as (keyof typeof wanted)[]).every((key) => gap[key] === wanted[key]);
}

function dateOf(option: string, text: string): string {
  const date = parseDate(text);
  if (date === undefined) throw new OperatorError(`--${option}: "${text}" is not a calendar day; write YYYYMMDD`, 2);
  return date;
}

async function change(root: string, edit: (gaps: readonly RecordedGap[]) => readonly RecordedGap[]): Promise<void> {
  const layout = layoutOf(root);
  await withLock(layout.gapsLock, async () => {
    await writeDurably(layout.gaps, encodeGaps(edit(await readRecordedGaps(layout.gaps))));
  }).catch((error: unknown) => {
    throw explain(error, root);
  });
}

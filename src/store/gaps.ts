// Records, excuses and resolves gaps. A running server shows the change with the next request.
import { codeRules, faultOfCode, ourCode } from "../catalog/codes.js";
import { columnNamed } from "../catalog/index.js";
import type { Entity } from "../catalog/types.js";
import { parseDate } from "../dates.js";
import { OperatorError } from "../errors.js";
import { encodeGaps, isExcuse, readRecordedGaps, type Excuse, type Gap, type RecordedGap } from "../lake/gaps.js";
import { layoutOf } from "../lake/layout.js";
import { isPrintable } from "../words.js";
import { writeDurably } from "../durable.js";
import { withLock } from "../lock.js";
import { explain } from "./session.js";

interface GapDays {
  /** `YYYYMMDD` or `YYYY-MM-DD`, inclusive. */
  readonly start: string;
  readonly end: string;
  /** Null for all codes. */
  readonly code: string | null;
}

/** A gap, and its kind in snake case, e.g. `timeout`. */
type NewGap = GapDays & { readonly kind: string };

/** Days that are excused, and why. */
type NewExcuse = GapDays & { readonly reason: string };

/** Records a gap; resolves to it with its number. */
export async function addGap(root: string, entity: Entity, gap: NewGap, now: Date): Promise<RecordedGap> {
  const days = checkedDays(entity, gap);
  if (!/^[a-z][a-z0-9_]{0,39}$/.test(gap.kind)) {
    throw new OperatorError(`"${gap.kind}" is not a valid kind; write snake_case such as timeout`, 2);
  }
  const wanted = { ...days, kind: gap.kind };
  let added: RecordedGap | undefined;
  await change(root, (gaps) => {
    const same = gaps.find((other) => other.resolved === null && !isExcuse(other) && isSame(other, wanted));
    if (same) throw new OperatorError(`this gap is already recorded, as number ${same.id}`);
    added = { id: nextId(gaps), ...wanted, recorded: now.toISOString(), resolved: null };
    return [...gaps, added];
  });
  return added!;
}

/** The longest reason, in characters. */
const LONGEST_REASON = 200;

/**
 * Excuses missing rows: they are no longer served as gaps. Resolves to the excuse with its number; an excuse that is
 * there already is returned as it is.
 */
export async function excuseGaps(root: string, entity: Entity, excuse: NewExcuse, now: Date): Promise<Excuse> {
  const reason = excuse.reason.trim();
  if (reason === "" || reason.length > LONGEST_REASON || !isPrintable(reason)) {
    throw new OperatorError(`--reason: write 1 to ${LONGEST_REASON} printable characters on one line`, 2);
  }
  const wanted = { ...checkedDays(entity, excuse), kind: "excused" };
  let kept: Excuse | undefined;
  await change(root, (gaps) => {
    const same = gaps.filter(isExcuse).find((other) => other.resolved === null && isSame(other, wanted));
    if (same !== undefined) {
      if (same.reason !== reason) {
        const way = `to change the reason, first: tapehouse gaps resolve ${same.id}`;
        throw new OperatorError(`these days are already excused, as number ${same.id}: ${same.reason}; ${way}`);
      }
      kept = same;
      return gaps;
    }
    kept = { id: nextId(gaps), ...wanted, recorded: now.toISOString(), resolved: null, reason };
    return [...gaps, kept];
  });
  return kept!;
}

const nextId = (gaps: readonly RecordedGap[]): number => (gaps.at(-1)?.id ?? 0) + 1;

/** The days and the code of a record. Throws if one of them is malformed. */
function checkedDays(entity: Entity, { start, end, code: given }: GapDays): Omit<Gap, "kind"> {
  const gap_start = dateOf("start", start);
  const gap_end = dateOf("end", end);
  if (gap_start > gap_end) throw new OperatorError(`the gap starts on ${gap_start} but ends on ${gap_end}`, 2);
  const code = given === null ? null : ourCode(given);
  const fault = code === null ? null : faultOfCode(codeRules(entity, columnNamed(entity, entity.code)!), code);
  if (fault) {
    const way = fault.near === undefined ? "write one such as 600519.SH" : `did you mean ${fault.near}?`;
    throw new OperatorError(`--code: "${given}" ${fault.why}; ${way}`, 2);
  }
  return { entity: entity.name, ts_code: code, gap_start, gap_end };
}

/** Resolves a recorded gap: it is no longer served, but stays listed as resolved. An excuse is taken back. */
export async function resolveGap(root: string, id: number, now: Date): Promise<void> {
  await change(root, (gaps) => {
    const found = gaps.find((gap) => gap.id === id);
    if (!found) throw new OperatorError(`there is no gap number ${id}; see: tapehouse gaps list`);
    if (found.resolved !== null) throw new OperatorError(`gap number ${id} was already resolved, ${found.resolved}`);
    return gaps.map((gap) => (gap === found ? { ...gap, resolved: now.toISOString() } : gap));
  });
}

function isSame(gap: RecordedGap, wanted: Gap): boolean {
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

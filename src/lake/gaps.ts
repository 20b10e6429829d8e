// Gaps in the data: their shape, and those that an operator recorded.
import { CommandError } from "../errors.js";
import { readRecords } from "./absent.js";

/** Days of one entity for which data is missing. */
export interface Gap {
  readonly entity: string;
  /** Null where the gap is not tied to one code. */
  readonly ts_code: string | null;
  /** First and last day, `YYYYMMDD`. */
  readonly gap_start: string;
  readonly gap_end: string;
  /** `missing_day` and `missing` are computed; any other kind was recorded. */
  readonly kind: string;
}

export interface RecordedGap extends Gap {
  readonly id: number;
  /** ISO 8601: when it was recorded, and when an operator took it back; null where nobody did. */
  readonly recorded: string;
  readonly resolved: string | null;
}

/** Reads the recorded gaps of a file, resolved ones included; an absent file holds none. */
export async function readRecordedGaps(path: string): Promise<readonly RecordedGap[]> {
  const records = await readRecords(path);
  if (records.every(isGap)) return records;
  throw new CommandError(`${path} is damaged: its record ${records.findIndex((one) => !isGap(one)) + 1} is no gap`);
}

function isGap(value: unknown): value is RecordedGap {
  if (typeof value !== "object" || value === null) return false;
  const { id, entity, ts_code, gap_start, gap_end, kind, recorded, resolved } = value as Record<string, unknown>;
  const texts = [entity, gap_start, gap_end, kind, recorded, ts_code ?? "", resolved ?? ""];
  return Number.isSafeInteger(id) && texts.every((text) => typeof text === "string");
}

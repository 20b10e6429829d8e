// The shape of gaps in the data, and reading the gaps that an operator recorded or excused.
import { printableJson } from "../words.js";
import { readOrNone } from "../files.js";
import { DamagedRecordsError, parseRecords, seal, unseal, type Shape } from "./records.js";

/** Days of one entity for which data is missing. */
export interface Gap {
  readonly entity: string;
  /** Null for a gap of all codes. */
  readonly ts_code: string | null;
  /** First and last day, `YYYYMMDD`. */
  readonly gap_start: string;
  readonly gap_end: string;
  /** `missing_day` and `missing` are computed; all other kinds are recorded. */
  readonly kind: string;
}

export interface RecordedGap extends Gap {
  readonly id: number;
  /** ISO 8601: when it was recorded, and when an operator resolved it (null: not yet). */
  readonly recorded: string;
  readonly resolved: string | null;
  /** Only of an excuse: why rows are not expected on these days. An excuse is no gap. */
  readonly reason?: string;
}

/** Days on which missing rows are expected, of one code or of all, until it is resolved. */
export interface Excuse extends RecordedGap {
  readonly reason: string;
}

export const isExcuse = (gap: RecordedGap): gap is Excuse => gap.reason !== undefined;

/** Of gaps of an earlier release, which have no checksum. */
const SHAPE: Shape<Omit<RecordedGap, "reason">> = {
  ...{ id: "number", entity: "string", ts_code: "string?", gap_start: "string", gap_end: "string", kind: "string" },
  ...{ recorded: "string", resolved: "string?" },
};

/** Reads the recorded gaps of a file, resolved ones included; an absent file holds none. Throws DamagedRecordsError. */
export const readRecordedGaps = async (path: string): Promise<readonly RecordedGap[]> =>
  parseRecordedGaps(await readOrNone(path), path);

/** The same for the text of the file. */
export function parseRecordedGaps(text: string | undefined, path: string): readonly RecordedGap[] {
  return parseRecords(text, path).map((record, i) => {
    const gap: RecordedGap | undefined = unseal<Omit<RecordedGap, "reason">>(printableJson(record), SHAPE);
    if (gap !== undefined) return gap;
    throw new DamagedRecordsError(
      `${path} is damaged (record ${i + 1}): restore it from a backup, or move it away and start a new one`,
    );
  });
}

/** Recorded gaps as text: a JSON array with one gap a line, each with its checksum. */
export const encodeGaps = (gaps: readonly RecordedGap[]): string => `[\n${gaps.map(seal).join(",\n")}\n]\n`;

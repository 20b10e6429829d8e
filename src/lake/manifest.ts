// The two levels of the manifest as data: a version names one list for each entity, a list names the entity's files.
import { createHash } from "node:crypto";
import { OperatorError } from "../errors.js";

/** A file of the manifest that is gone, or is not what its checksum says. */
export class DamagedManifestError extends OperatorError {
  constructor(
    readonly problem: string,
    /** It is not there: vacuum may have removed it just now. */
    readonly isMissing = false,
  ) {
    super(`${problem}; see: tapehouse verify`);
    this.name = "DamagedManifestError";
  }
}

/** One immutable Parquet file. Its rows are in the entity's order, or by code and then that order in a code copy. */
export interface DataFile {
  /** Relative to the lake folder, e.g. `daily/20240102-20241231-3f2a….parquet`. */
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly rows: number;
  /** First and last main date, `YYYYMMDD`; null if the entity has no main date or every row lacks it. */
  readonly first: string | null;
  readonly last: string | null;
  readonly firstCode: string | null;
  readonly lastCode: string | null;
  /** The most rows that one main date has in it. Absent in lists that an earlier release made. */
  readonly mostOnADay?: number;
}

/** First and last main date, `YYYYMMDD`, inclusive. */
export type DateRange = readonly [string, string];

/** How rows lie in a file: for cross-sections and wide pulls, or for the series of one code. */
export type Clustering = "byDate" | "byCode";

/** Rows in a row group, the unit that a read can skip: about a month of the whole market, or some years of a few codes. */
export const ROW_GROUP_ROWS: Record<Clustering, number> = { byDate: 122_880, byCode: 10_240 };

/** All files of one entity in one version. */
export interface FileList {
  readonly entity: string;
  readonly rows: number;
  readonly first: string | null;
  readonly last: string | null;
  /** In date order; a date lies in one file only. Rows without a main date are in the last file, on their own. */
  readonly byDate: readonly DataFile[];
  /** The second copy, in code order; a code lies in one file only. Empty if there is none. */
  readonly byCode: readonly DataFile[];
  /**
   * The date ranges (inclusive, one for each date file that is covered) for which `byCode` holds what `byDate` holds.
   * Other dates in `byCode` are stale.
   */
  readonly codeRanges: readonly DateRange[];
}

export interface Version {
  readonly sequence: number;
  /** ISO 8601, milliseconds, +08:00; strictly increasing with `sequence`. */
  readonly data_version: string;
  /**
   * When it was published by the clock of that moment, as `data_version` is written; there where the version before bears
   * a later time, because one of the two clocks was wrong.
   */
  readonly published?: string;
  /** What made it, e.g. `import daily`. */
  readonly reason: string;
  /** Entity name → SHA-256 of its list. Entities without data are absent. */
  readonly lists: Readonly<Record<string, string>>;
}

/** The version of a lake into which nothing was ever published. */
export const EMPTY_VERSION: Version = {
  sequence: 0,
  data_version: "1970-01-01T08:00:00.000+08:00",
  reason: "empty lake",
  lists: {},
};

export function emptyList(entity: string): FileList {
  return { entity, rows: 0, first: null, last: null, byDate: [], byCode: [], codeRanges: [] };
}

/** Sums up the date-ordered files of an entity; `codeRanges` must hold only ranges that the copy still answers. */
export function fileList(
  entity: string,
  byDate: readonly DataFile[],
  byCode: readonly DataFile[] = [],
  codeRanges: FileList["codeRanges"] = [],
): FileList {
  const dated = byDate.filter((file) => file.first !== null);
  return {
    entity,
    rows: byDate.reduce((sum, file) => sum + file.rows, 0),
    first: dated[0]?.first ?? null,
    last: dated.at(-1)?.last ?? null,
    byDate,
    byCode: codeRanges.length > 0 ? byCode : [],
    codeRanges,
  };
}

/** Whether the code copy holds all rows of a date file. */
export function isCovered({ codeRanges }: Pick<FileList, "codeRanges">, file: DataFile | undefined): boolean {
  if (!file || file.first === null || file.last === null) return false;
  const { first: start, last: end } = file;
  return codeRanges.some(([first, last]) => first <= start && end <= last);
}

export const sha256 = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex");

/** A list as it is stored: its text names it. */
export const encodeList = (list: FileList): string => JSON.stringify(list);

export function decodeList(text: string, expectedSha: string): FileList {
  if (sha256(text) !== expectedSha) throw new DamagedManifestError(`file list ${expectedSha.slice(0, 12)} is damaged`);
  return JSON.parse(text) as FileList;
}

/** A version as it is stored: with a checksum of the rest. */
export function encodeVersion(version: Version): string {
  return JSON.stringify({ ...version, checksum: sha256(JSON.stringify(version)) });
}

export function decodeVersion(text: string, sequence: number): Version {
  const { checksum, ...version } = parseObject(text) as Version & { checksum: string };
  if (sha256(JSON.stringify(version)) !== checksum || version.sequence !== sequence) {
    throw new DamagedManifestError(`version ${sequence} is damaged`);
  }
  return version;
}

function parseObject(text: string): unknown {
  try {
    return { ...(JSON.parse(text) as object) };
  } catch {
    return {};
  }
}

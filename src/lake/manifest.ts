// The manifest: a version names one file list for each entity, and a list names the entity's files.
import { createHash } from "node:crypto";
import { OperatorError } from "../errors.js";
import type { Finding } from "./findings.js";
import type { VersionEntry } from "./ledger-entry.js";
import { countUntil } from "./ordered.js";

/** A file of the manifest is missing, or its checksum does not match. */
export class DamagedManifestError extends OperatorError {
  constructor(
    readonly problem: string,
    /** The file is missing: vacuum may just have removed it. */
    readonly isMissing = false,
  ) {
    super(`${problem}; see: tapehouse verify`);
    this.name = "DamagedManifestError";
  }
}

/** One immutable Parquet file. Its rows are in the entity's order; in a code copy they are ordered by code first. */
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
  /** The most rows that one main date has in the file. Absent in lists of earlier releases. */
  readonly mostOnADay?: number;
  /** Only large files of a lake in a bucket have them. */
  readonly rowGroups?: RowGroups;
}

/** The row groups of a data file, of which a mirror can fetch some. They follow one another from the first byte on. */
export interface RowGroups {
  /** The column that orders the rows: the main date, or in the code copy the code. */
  readonly by: string;
  readonly groups: readonly RowGroup[];
  /** The SHA-256 of what follows the last of them: the footer with its indexes. */
  readonly footer: string;
}

export interface RowGroup {
  /** The byte after the last one. */
  readonly end: number;
  readonly sha256: string;
  /** Least and greatest value of the column that orders the rows, dates as `YYYYMMDD`; null if not known. */
  readonly first: string | null;
  readonly last: string | null;
}

/** First and last main date, `YYYYMMDD`, inclusive. */
export type DateRange = readonly [string, string];

/** The order of rows in a file: by date for cross-sections and wide pulls, by code for the series of one code. */
export type Clustering = "byDate" | "byCode";

/** Rows in a row group, the unit that a read can skip: about a month of the whole market, or several years of a few codes. */
export const ROW_GROUP_ROWS: Record<Clustering, number> = { byDate: 122_880, byCode: 10_240 };

/** All files of one entity in one version. */
export interface FileList {
  readonly entity: string;
  readonly rows: number;
  readonly first: string | null;
  readonly last: string | null;
  /** In date order; no date is in two files. Rows without a main date are alone in the last file. */
  readonly byDate: readonly DataFile[];
  /** The code copy, in code order; no code is in two files. Empty if there is no copy. */
  readonly byCode: readonly DataFile[];
  /**
   * The inclusive date ranges, one for each covered date file and in their order, for which `byCode` holds the same rows
   * as `byDate`. Rows of other dates in `byCode` are stale.
   */
  readonly codeRanges: readonly DateRange[];
  /** What the checks found in the rows; absent if they found nothing, or if an earlier release imported the rows. */
  readonly findings?: readonly Finding[];
}

/** A long list as stored: instead of data files, the checksums of its parts in their order. */
export interface LongList extends Omit<FileList, "byDate" | "byCode" | "codeRanges"> {
  readonly parts: { readonly byDate: readonly string[]; readonly byCode: readonly string[] };
}

/** The checksums of the parts that a list names; none if it is short. */
export function partNames(text: string): readonly string[] {
  const { parts } = JSON.parse(text) as Partial<LongList>;
  return parts === undefined ? [] : [...parts.byDate, ...parts.byCode];
}

/** Drops of an entity that a version took back. */
export interface Withdrawal {
  readonly entity: string;
  /** They were taken after the first of these versions and not after the second; each is a `data_version`. */
  readonly after: string;
  readonly until: string;
  /** Only the drops with this content; absent if it is all of them. */
  readonly contents?: readonly string[];
}

export interface Version {
  readonly sequence: number;
  /** ISO 8601, milliseconds, +08:00; strictly increasing with `sequence`. */
  readonly data_version: string;
  /**
   * When it was published by the clock, in the format of `data_version`. Present only if the clock was not later than the
   * `data_version` of the parent, so one of the two times is wrong.
   */
  readonly published?: string;
  /** What created it, e.g. `import daily`. */
  readonly reason: string;
  /** Absent if it took nothing back. */
  readonly withdrawals?: readonly Withdrawal[];
  /** What drops or a command brought, for the ledger; absent if rows came in no such way, or in an earlier release. */
  readonly entries?: readonly VersionEntry[];
  /** Entity name → SHA-256 of its list. Entities without data are absent. */
  readonly lists: Readonly<Record<string, string>>;
}

/** The version of a lake in which nothing was published yet. */
export const EMPTY_VERSION: Version = {
  sequence: 0,
  data_version: "1970-01-01T08:00:00.000+08:00",
  reason: "empty lake",
  lists: {},
};

export function emptyList(entity: string): FileList {
  return { entity, rows: 0, first: null, last: null, byDate: [], byCode: [], codeRanges: [] };
}

/** Makes the list of an entity's date-ordered files. `codeRanges` must hold only ranges for which the copy is current. */
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
  const range = codeRanges[countUntil(codeRanges, ([first]) => first <= start) - 1];
  return range !== undefined && end <= range[1];
}

export const sha256 = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex");

/** A version as stored, with a checksum of its other fields. */
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

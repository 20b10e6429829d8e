// What the page is told by the server.
import type { ParameterKind } from "../catalog/parameters.js";
import type { Entity, EntityColumn, Unit } from "../catalog/types.js";

export type CatalogColumn = Pick<EntityColumn, "name" | "type" | "nullable" | "meaning" | "chinese" | "unit">;

/** An entity as the page needs it. */
export type CatalogEntity = Pick<Entity, "name" | "title" | "about" | "chinese" | "store" | "code" | "gaps"> & {
  readonly columns: readonly CatalogColumn[];
  /** Which parameters it takes, filters left out. */
  readonly parameters: readonly ParameterKind[];
  /** Its filters, each with its column. */
  readonly filters: readonly { readonly name: string; readonly column: string }[];
};

export interface Catalog {
  readonly entities: readonly CatalogEntity[];
  /** In which rows are served. */
  readonly formats: readonly string[];
  /** In Chinese. */
  readonly units: Readonly<Record<Unit, string>>;
  /** What went wrong, in Chinese, by the code of a problem. */
  readonly problems: Readonly<Record<string, string>>;
}

export interface Coverage {
  /** False where there are no rows, and where there are some that cannot be read at the moment. */
  readonly available: boolean;
  /** `YYYYMMDD`; absent where there are no rows. */
  readonly data_start?: string;
  readonly data_end?: string;
  readonly rows?: number;
}

export interface Meta {
  readonly data_version: string;
  /** By name; only those that the token may read. */
  readonly entities: Readonly<Record<string, Coverage>>;
  /** Whether the token may run SQL; `off` if the server runs none. */
  readonly sql: "available" | "forbidden" | "off";
}

export interface Versions {
  readonly data_version: string;
  /** Newest first. */
  readonly versions: readonly string[];
}

export interface EntityVersions {
  /** Newest first. */
  readonly versions: readonly {
    readonly data_version: string;
    readonly added: number;
    readonly removed: number;
    readonly changed: number;
    readonly first: string | null;
    readonly last: string | null;
  }[];
}

export type Value = string | number | null;

export interface Envelope {
  readonly entity: string;
  readonly data_version: string;
  readonly columns: readonly { readonly name: string; readonly dtype: string }[];
  readonly rows: readonly (readonly Value[])[];
  readonly count: number;
  readonly truncated: boolean;
  readonly next_cursor: string | null;
}

export interface Gap {
  readonly ts_code: string | null;
  readonly gap_start: string;
  readonly gap_end: string;
  readonly kind: string;
}

export interface ExcusedGap extends Gap {
  /** In the words of the operator. */
  readonly reason: string;
}

export interface Gaps<G extends Gap> {
  readonly gaps: readonly G[];
}

interface Checked {
  readonly check: string;
  readonly severity: "severe" | "suspicious";
  readonly says: string;
  readonly chinese: string;
  readonly count: number;
  readonly first: string | null;
  readonly last: string | null;
}

export interface Checks {
  readonly checks: readonly Checked[];
}

interface ColumnStatistics {
  readonly name: string;
  readonly nulls: number;
  readonly distinct: number;
  readonly min: Value;
  readonly max: Value;
  readonly last: string | null;
}

export interface Statistics {
  readonly rows: number;
  readonly columns: readonly ColumnStatistics[];
}

export interface Calendar {
  readonly days: readonly { readonly cal_date: string; readonly is_open: number }[];
}

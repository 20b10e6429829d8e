// Values bound into SQL and values read back: plain JavaScript on our side, DuckDB's own classes on the other.
import { listValue, type DuckDBValue } from "@duckdb/node-api";
import type { SqlValue } from "../query/sql.js";

/** A scalar read from a small result. BIGINT comes as number (as bigint beyond 2^53), every other non-number as text. */
export type Scalar = string | number | bigint | boolean | null;

export function toDuck(value: SqlValue): DuckDBValue {
  if (typeof value === "object" && value !== null) return listValue(value);
  return value;
}

export function fromDuck(value: DuckDBValue): Scalar {
  if (value === null || typeof value === "number" || typeof value === "boolean" || typeof value === "string")
    return value;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  return String(value);
}

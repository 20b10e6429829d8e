// Cuts a scan where copies begin and end, so that each part is read as a whole from copies or from Parquet.
import type { DataFile } from "../lake/manifest.js";
import { rowsIn } from "../query/files.js";
import type { Scan } from "../query/scan.js";
import type { Copy } from "./open.js";

/**
 * Scans that have the rows of this one, one after another; null if some files have no copy and the scan cannot be cut.
 * `copyOf` gives the copy of a file, or null.
 */
export function partsOf(scan: Scan, copyOf: (file: DataFile) => Copy | null): readonly Scan[] | null {
  const groups: DataFile[][] = [];
  for (const file of scan.files) {
    const last = groups.at(-1);
    if (last !== undefined && (copyOf(last[0]!) === null) === (copyOf(file) === null)) last.push(file);
    else groups.push([file]);
  }
  if (groups.length === 1) return [scan];
  if (scan.derived !== null || !isByDate(scan, copyOf)) return null;
  return (scan.order?.descending === true ? groups.toReversed() : groups).map((files) => partOf(scan, files));
}

/** Whether all rows of a file come before those of the next one. Files of one scan are clustered alike. */
const isByDate = ({ files, order }: Scan, copyOf: (file: DataFile) => Copy | null): boolean =>
  files.some((file) => copyOf(file)?.index.clustering === "byDate") && order?.columns.length !== 0;

function partOf(scan: Scan, files: readonly DataFile[]): Scan {
  const rows = rowsIn(files);
  const { atMost, exact } = scan.bounds;
  return { ...scan, files, bounds: { atMost: exact ? rows : Math.min(rows, atMost), exact } };
}

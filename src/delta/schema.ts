// An entity as a Delta table: its schema, and what a data file says of itself.
import type { ColumnType, Entity } from "../catalog/types.js";
import { isoDate } from "../dates.js";
import type { DataFile } from "../lake/manifest.js";
import type { Add, MetaData, Remove } from "./actions.js";

const TYPES = {
  code: "string",
  text: "string",
  date: "date",
  float64: "double",
  int64: "long",
} as const satisfies Record<ColumnType, string>;

/** The part of the metadata that follows from the catalog. */
export function descriptionOf({
  name,
  about,
  columns,
}: Entity): Pick<MetaData, "name" | "description" | "schemaString"> {
  const fields = columns.map((column) => ({
    name: column.name,
    type: TYPES[column.type],
    nullable: true,
    metadata: { comment: column.unit === undefined ? column.meaning : `${column.meaning}; ${column.unit}` },
  }));
  return { name, description: about, schemaString: JSON.stringify({ type: "struct", fields }) };
}

/** The path of a data file in its table. */
export const pathOf = ({ name }: Entity, file: DataFile): string => file.path.slice(name.length + 1);

export function addOf(entity: Entity, file: DataFile, time: number, dataChange: boolean): Add {
  return {
    path: pathOf(entity, file),
    partitionValues: {},
    size: file.bytes,
    modificationTime: time,
    dataChange,
    stats: JSON.stringify(statsOf(entity, file)),
  };
}

export const removalOf = ({ path, partitionValues, size }: Add, time: number, dataChange: boolean): Remove => ({
  ...{ path, partitionValues, size, dataChange },
  ...{ deletionTimestamp: time, extendedFileMetadata: true },
});

/** What is known without reading the file. Rows without a main date are alone in their file. */
function statsOf({ mainDate, code }: Entity, file: DataFile): object {
  const minValues: Record<string, string> = {};
  const maxValues: Record<string, string> = {};
  const nullCount: Record<string, number> = {};
  if (file.firstCode !== null && file.lastCode !== null) {
    minValues[code] = file.firstCode;
    maxValues[code] = file.lastCode;
  }
  if (file.first !== null && file.last !== null && mainDate !== null) {
    minValues[mainDate] = isoDate(file.first);
    maxValues[mainDate] = isoDate(file.last);
  }
  if (mainDate !== null) nullCount[mainDate] = file.first === null ? file.rows : 0;
  return { numRecords: file.rows, minValues, maxValues, nullCount };
}

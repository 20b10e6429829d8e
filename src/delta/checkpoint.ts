// Checkpoints: the state of a table as a Parquet file, so that a reader need not read all commits before it.
import { parquetReadObjects, type SchemaElement } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { type Add, DamagedLogError, type MetaData, type Protocol } from "./actions.js";

/** What a checkpoint holds: what was not replaced or removed by later commits. */
export interface Content {
  readonly protocol: Protocol;
  readonly metaData: MetaData;
  readonly files: Iterable<Add>;
}

export function encodeCheckpoint({ protocol, metaData, files }: Content): { bytes: Uint8Array; actions: number } {
  const adds = [...files].map((add) => ({
    ...add,
    dataChange: false,
    size: BigInt(add.size),
    modificationTime: BigInt(add.modificationTime),
  }));
  const none = adds.map(() => null);
  const buffer = parquetWriteBuffer({
    schema: SCHEMA,
    columnData: [
      { name: "protocol", data: [protocol, null, ...none] },
      { name: "metaData", data: [null, { ...metaData, createdTime: BigInt(metaData.createdTime) }, ...none] },
      { name: "add", data: [null, null, ...adds] },
    ],
  });
  return { bytes: new Uint8Array(buffer), actions: adds.length + 2 };
}

/** Throws a DamagedLogError if it is not a checkpoint of ours. */
export async function decodeCheckpoint(bytes: Uint8Array, key: string): Promise<Content> {
  const slice = (start: number, end?: number): ArrayBuffer => Uint8Array.from(bytes.subarray(start, end)).buffer;
  const rows = await parquetReadObjects({ file: { byteLength: bytes.length, slice } }).catch(() => []);
  const plain = rows.map((row) => numbersIn(row) as Partial<{ protocol: Protocol; metaData: MetaData; add: Add }>);
  const protocol = plain.find((row) => row.protocol)?.protocol;
  const metaData = plain.find((row) => row.metaData)?.metaData;
  if (!protocol || !metaData) throw new DamagedLogError(key);
  return { protocol, metaData, files: plain.flatMap(({ add }) => add ?? []) };
}

/** The same value with numbers for big integers. */
function numbersIn(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(numbersIn);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, numbersIn(inner)]));
}

// The schema, as flat elements in preorder.

const leaf = (name: string, type: SchemaElement["type"]): SchemaElement[] => [
  { name, type: type!, repetition_type: "OPTIONAL" },
];
const text = (name: string, repetition_type: SchemaElement["repetition_type"] = "OPTIONAL"): SchemaElement[] => [
  { name, type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: repetition_type },
];
const group = (name: string, ...fields: readonly SchemaElement[][]): SchemaElement[] => [
  { name, repetition_type: "OPTIONAL", num_children: fields.length },
  ...fields.flat(),
];
const list = (name: string): SchemaElement[] => [
  { name, converted_type: "LIST", repetition_type: "OPTIONAL", num_children: 1 },
  { name: "list", repetition_type: "REPEATED", num_children: 1 },
  ...text("element"),
];
const map = (name: string): SchemaElement[] => [
  { name, converted_type: "MAP", repetition_type: "OPTIONAL", num_children: 1 },
  { name: "key_value", repetition_type: "REPEATED", num_children: 2 },
  ...text("key", "REQUIRED"),
  ...text("value"),
];

const SCHEMA: SchemaElement[] = [
  { name: "root", num_children: 3 },
  ...group("protocol", leaf("minReaderVersion", "INT32"), leaf("minWriterVersion", "INT32"), list("writerFeatures")),
  ...group(
    "metaData",
    text("id"),
    text("name"),
    text("description"),
    group("format", text("provider"), map("options")),
    text("schemaString"),
    list("partitionColumns"),
    map("configuration"),
    leaf("createdTime", "INT64"),
  ),
  ...group(
    "add",
    text("path"),
    map("partitionValues"),
    leaf("size", "INT64"),
    leaf("modificationTime", "INT64"),
    leaf("dataChange", "BOOLEAN"),
    text("stats"),
  ),
];

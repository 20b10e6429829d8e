// The bodies of answers as JSON Schema: the envelope of each entity from its columns, and the service's own records.
import { ENTITY_NAMES } from "../../catalog/index.js";
import { DTYPES, STORES, type Column, type Entity } from "../../catalog/types.js";
import { refTo, schemaOf, type Schema } from "./schemas.js";

/** An object that has all of these properties and no other. */
const record = (properties: Schema, rest: Schema = {}): Schema => ({
  type: "object",
  required: Object.keys(properties),
  properties,
  additionalProperties: false,
  ...rest,
});

const envelope = record(
  {
    entity: { type: "string", enum: ENTITY_NAMES },
    data_version: schemaOf("DataVersion"),
    columns: {
      type: "array",
      minItems: 1,
      items: record({ name: { type: "string" }, dtype: { type: "string", enum: [...new Set(Object.values(DTYPES))] } }),
    },
    rows: {
      type: "array",
      description: "Each row has its values in the order of `columns`; a missing value is null.",
      items: { type: "array", minItems: 1, items: { type: ["string", "number", "null"] } },
    },
    count: { type: "integer", minimum: 0, description: "Number of rows." },
    truncated: { type: "boolean", description: "Whether `limit` cut the answer." },
    next_cursor: {
      type: ["string", "null"],
      description: "Give it as `cursor` to continue; null where nothing was cut.",
    },
  },
  {
    description: "Rows of an entity.",
    if: { properties: { truncated: { const: false } } },
    then: { properties: { next_cursor: { type: "null" } } },
    else: { properties: { next_cursor: { type: "string" } } },
  },
);

const shown = ({ meaning, unit, type }: Column): string =>
  [meaning, ...(unit ? [`in ${unit}`] : []), ...(type === "date" ? ["`YYYYMMDD`"] : [])].join(", ");

/** The envelope with the entity's own columns. */
export function envelopeOf(entity: Entity): Schema {
  const columns = entity.columns.map((column) => ({
    title: column.name,
    description: shown(column),
    properties: { name: { const: column.name }, dtype: { const: DTYPES[column.type] } },
  }));
  const most = entity.columns.length;
  return {
    title: entity.title,
    description: entity.about,
    allOf: [
      refTo("schemas", "Envelope"),
      {
        properties: {
          entity: { const: entity.name },
          columns: { maxItems: most, items: { oneOf: columns } },
          rows: { items: { maxItems: most } },
        },
      },
    ],
  };
}

const gap = record({
  entity: { type: "string", enum: ENTITY_NAMES },
  ts_code: { type: ["string", "null"], description: "Null where the gap is not tied to one code." },
  gap_start: { ...schemaOf("Day"), description: "First day of the gap." },
  gap_end: { ...schemaOf("Day"), description: "Last day of the gap." },
  kind: {
    type: "string",
    description:
      "`missing_day`: an open day without any row. `missing`: a listed stock that was not suspended has no row. " +
      "Anything else was recorded by the operator.",
    examples: ["missing_day", "missing", "timeout"],
  },
});

const exchange: Schema = { type: "string", description: "The exchange asked for." };

/** Every schema that the description refers to by name. */
export const bodySchemas = {
  Envelope: envelope,
  Gaps: record(
    { entity: { type: "string", enum: ENTITY_NAMES }, gaps: { type: "array", items: gap } },
    { description: "Intervals for which rows are missing. Empty: complete as far as is known." },
  ),
  Calendar: record({
    exchange,
    days: {
      type: "array",
      items: record({
        exchange: { type: "string", const: "SSE" },
        cal_date: schemaOf("Day"),
        is_open: { type: "integer", enum: [0, 1] },
      }),
    },
    data_version: schemaOf("DataVersion"),
  }),
  Shift: record({
    date: { ...schemaOf("Day"), description: "The day asked for." },
    n: { type: "integer" },
    exchange,
    result: { ...schemaOf("Day"), description: "The resulting trading day." },
  }),
  Meta: record({
    data_version: schemaOf("DataVersion"),
    entities: {
      type: "object",
      description: "Every entity that the token may read, by name.",
      propertyNames: { enum: ENTITY_NAMES },
      additionalProperties: record(
        {
          entity: { type: "string", enum: ENTITY_NAMES },
          available: { type: "boolean", description: "Whether there are rows." },
          data_start: { ...schemaOf("Day"), description: "First date with data." },
          data_end: { ...schemaOf("Day"), description: "Last date with data." },
          rows: { type: "integer", minimum: 1 },
        },
        { required: ["entity", "available"] },
      ),
    },
  }),
  Versions: record({
    data_version: { ...schemaOf("DataVersion"), description: "The one that is served." },
    versions: { type: "array", description: "Newest first.", items: schemaOf("DataVersion") },
  }),
  Health: record({
    status: { type: "string", enum: ["ok", "degraded"] },
    data_version: schemaOf("DataVersion"),
    databases: record(Object.fromEntries(STORES.map((store) => [store, { type: "boolean" }])), {
      description: "False: a file of this store cannot be read.",
    }),
  }),
} as const satisfies Record<string, Schema>;

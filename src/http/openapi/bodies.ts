// The bodies of responses as JSON Schema: the envelope of each entity from its columns, and the service's own records.
import { CHECKS } from "../../catalog/checks.js";
import { ENTITIES, ENTITY_NAMES } from "../../catalog/index.js";
import { type Column, DTYPES, type Entity, type EntityColumn, STORES } from "../../catalog/types.js";
import { EXAMPLES } from "../../lake/findings.js";
import { AS_OF } from "../../query/as-of.js";
import { refTo, schemaOf, type Schema } from "./schemas.js";

/** An object that has exactly these properties. */
const record = (properties: Schema, rest: Schema = {}): Schema => ({
  type: "object",
  required: Object.keys(properties),
  properties,
  additionalProperties: false,
  ...rest,
});

const envelope = record(
  {
    entity: { type: "string", enum: [...ENTITY_NAMES, "panel"] },
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
    truncated: { type: "boolean", description: "Whether `limit` truncated the response." },
    next_cursor: {
      type: ["string", "null"],
      description: "Send it as `cursor` to continue; null if the response is not truncated.",
    },
  },
  {
    description: "Rows of an entity.",
    if: { properties: { truncated: { const: false } } },
    then: { properties: { next_cursor: { type: "null" } } },
    else: { properties: { next_cursor: { type: "string" } } },
  },
);

/** The same without pages. */
const sqlResult: Schema = record(
  {
    ...(envelope["properties"] as Schema),
    entity: { const: "sql" },
    next_cursor: { type: "null", description: "SQL has no pages." },
  },
  { description: "Rows of a statement." },
);

const healthProperties = {
  status: { type: "string", enum: ["ok", "degraded"] },
  data_version: schemaOf("DataVersion"),
  databases: record(Object.fromEntries(STORES.map((store) => [store, { type: "boolean" }])), {
    description: "False: a file of this store cannot be read.",
  }),
};

const shown = ({ meaning, unit, type }: EntityColumn): string =>
  [meaning, ...(unit ? [`in ${unit}`] : []), ...(type === "date" ? ["`YYYYMMDD`"] : [])].join(", ");

/** The envelope with the entity's own columns. */
function envelopeOf(entity: Entity): Schema {
  const columnOf = ({ name, type }: Column, description: string): Schema => ({
    title: name,
    description,
    properties: { name: { const: name }, dtype: { const: DTYPES[type] } },
  });
  const asOf = entity.pointInTime === null ? [] : [columnOf(AS_OF, "Of several days of `as_of`, the one, `YYYYMMDD`")];
  const columns = [...asOf, ...entity.columns.map((column) => columnOf(column, shown(column)))];
  const most = columns.length;
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

const gapProperties = {
  entity: { type: "string", enum: ENTITY_NAMES },
  ts_code: { type: ["string", "null"], description: "Null if the gap does not concern a single code." },
  gap_start: { ...schemaOf("Day"), description: "First day of the gap." },
  gap_end: { ...schemaOf("Day"), description: "Last day of the gap." },
  kind: {
    type: "string",
    description:
      "`missing_day`: an open day without any rows. `missing`: a listed stock that was not suspended has no row. " +
      "Any other kind was recorded by the operator.",
    examples: ["missing_day", "missing", "timeout"],
  },
};

const gap: Schema = {
  ...record(gapProperties),
  properties: {
    ...gapProperties,
    reason: { type: "string", description: "Only with `excused=true`: why the operator excused the gap." },
  },
};

const day: Schema = { anyOf: [schemaOf("Day"), { type: "null" }] };

const check = record({
  check: { type: "string", enum: CHECKS.map(({ id }) => id), description: "The name of the check." },
  severity: {
    type: "string",
    enum: ["severe", "suspicious"],
    description: "`severe`: it cannot be true. `suspicious`: it is rarely true.",
  },
  says: { type: "string", description: "What was found." },
  chinese: { type: "string", description: "The same in Chinese." },
  counts: { type: "string", enum: ["rows", "days"], description: "What is counted." },
  count: { type: "integer", minimum: 0, description: "0: nothing was found." },
  first: { ...day, description: "The first date of what was found." },
  last: { ...day, description: "The last date of what was found." },
  examples: {
    type: "array",
    maxItems: EXAMPLES,
    description:
      "A few of them, the latest first; empty if they show values of an entity that the token does not cover.",
    items: record({
      code: { type: ["string", "null"] },
      date: day,
      values: { type: "object", additionalProperties: { type: ["string", "number", "null"] } },
    }),
  },
});

const names: Schema = { type: "array", items: { type: "string" } };

const value: Schema = { type: ["string", "number", "null"] };

/** What `/statistics` says about a column. */
const columnStatistics = record({
  name: { type: "string", description: "The name of the column." },
  nulls: { type: "integer", minimum: 0, description: "Number of rows without a value." },
  distinct: { type: "integer", minimum: 0, description: "Number of distinct values." },
  min: { ...value, description: "The least value; null if there is none. Text is compared byte by byte, in UTF-8." },
  max: { ...value, description: "The greatest value." },
  last: {
    ...day,
    description: "The last day with a value; null if the entity has no main date.",
  },
});

/** What `/meta` says about time for each entity. */
const pointInTime = {
  ...record({
    rule: {
      enum: ["announced", "snapshot", null],
      description: "How `as_of` selects rows; null: it is not supported.",
    },
    known_from: {
      ...names,
      description: "The first of these dates that a row has is the day on which it was announced.",
    },
    period_end: {
      type: ["string", "null"],
      description: "With `as_of`, this date must not be later either.",
    },
    hides: {
      type: "array",
      description: "With `as_of`, `column` shows `before` in rows whose `known_from` is later.",
      items: record({
        column: { type: "string" },
        known_from: { type: "string" },
        before: { type: ["string", "null"] },
      }),
    },
    revisions: {
      description: "`latest=true` leaves the newest of the rows with the same values of `of`, by `date`.",
      anyOf: [record({ of: names, date: names, flag: { type: ["string", "null"] } }), { type: "null" }],
    },
    panel: {
      enum: ["day", "newest", null],
      description:
        "What a panel takes: the row of the day, or the newest revision of the newest period known; null: it takes none.",
    },
  }),
  description: "When rows and values of the entity are known, for `as_of` and `latest`.",
};

const exchange: Schema = { type: "string", description: "The requested exchange." };

/** Every schema that the description refers to by name. */
export const bodySchemas = {
  Envelope: envelope,
  SqlResult: sqlResult,
  Gaps: record(
    { entity: { type: "string", enum: ENTITY_NAMES }, gaps: { type: "array", items: gap } },
    { description: "Intervals without rows. An empty list means complete, as far as known." },
  ),
  Checks: record(
    {
      entity: { type: "string", enum: ENTITY_NAMES },
      data_version: schemaOf("DataVersion"),
      checks: { type: "array", items: check },
    },
    { description: "The checks of the entity, and what they found when its rows were imported." },
  ),
  Statistics: record({
    ...{ entity: { type: "string", enum: ENTITY_NAMES }, data_version: schemaOf("DataVersion") },
    rows: { type: "integer", minimum: 0, description: "Number of rows." },
    columns: { type: "array", minItems: 1, items: columnStatistics },
  }),
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
    date: { ...schemaOf("Day"), description: "The requested day." },
    n: { type: "integer" },
    exchange,
    result: { ...schemaOf("Day"), description: "The resulting trading day." },
  }),
  Meta: record({
    data_version: schemaOf("DataVersion"),
    entities: {
      type: "object",
      description: "All entities that the token covers, by name.",
      propertyNames: { enum: ENTITY_NAMES },
      additionalProperties: record(
        {
          entity: { type: "string", enum: ENTITY_NAMES },
          available: { type: "boolean", description: "Whether there are rows that can be read at the moment." },
          data_start: { ...schemaOf("Day"), description: "First date with data." },
          data_end: { ...schemaOf("Day"), description: "Last date with data." },
          rows: { type: "integer", minimum: 1 },
        },
        { required: ["entity", "available"] },
      ),
    },
    point_in_time: {
      type: "object",
      description: "What `as_of` and `latest` mean for each of these entities.",
      propertyNames: { enum: ENTITY_NAMES },
      additionalProperties: pointInTime,
    },
    sql: {
      type: "string",
      enum: ["available", "forbidden", "off"],
      description: "Whether the token may run SQL here; `off` if the server runs none.",
    },
  }),
  EntityVersions: record({
    entity: { type: "string", enum: ENTITY_NAMES },
    data_version: schemaOf("DataVersion"),
    versions: {
      type: "array",
      description: "Newest first.",
      items: record({
        data_version: schemaOf("DataVersion"),
        added: { type: "integer", minimum: 0 },
        removed: { type: "integer", minimum: 0 },
        changed: { type: "integer", minimum: 0 },
        first: { ...day, description: "First main date of these rows." },
        last: { ...day, description: "Last main date of these rows." },
      }),
    },
  }),
  Versions: record({
    data_version: { ...schemaOf("DataVersion"), description: "The version that is served by default." },
    versions: { type: "array", description: "Newest first.", items: schemaOf("DataVersion") },
  }),
  Health: record(healthProperties, {
    properties: {
      ...healthProperties,
      inbox: { const: false, description: "Present only while the inbox should be watched but is not." },
    },
  }),
  ...Object.fromEntries(ENTITIES.map((entity) => [`Envelope_${entity.name}`, envelopeOf(entity)])),
} as const satisfies Record<string, Schema>;

// Generates the types of the TypeScript client from the catalog.
import { FORMAT_NAMES, FORMATS } from "../../src/catalog/formats.js";
import { parametersOf, type EntityParameter, type ParameterKind } from "../../src/catalog/parameters.js";
import type { ColumnType, Entity } from "../../src/catalog/types.js";
import { asOfMeaning, inUnit, pascalCase } from "./words.js";

const HEAD = `// The entities of the catalog as types. Made by \`npm run clients\`: change the catalog, not this file.
import type { Answer } from "./answer.js";

/** \`20240105\` or \`2024-01-05\`, as text or as a whole number. */
export type Day = string | number;
/** One value or several; one text may contain several, separated by commas. \`null\` is written \`"null"\`. */
export type Texts = string | readonly string[];
export type Days = Day | readonly Day[];
export type Ints = number | string | readonly (number | string)[];

/** With several days of \`as_of\`, each row has the one that it belongs to. */
export interface AsOf {
  readonly as_of?: string;
}
`;

/** The whole of `formats.ts`. */
export const typescriptFormats = (): string =>
  `// The formats of responses. Made by \`npm run clients\`: change the catalog, not this file.

/** Media types by the names that \`format=\` takes. */
export const MEDIA_TYPES = {
${FORMAT_NAMES.map((format) => `  ${format}: "${FORMATS[format].mediaType}",\n`).join("")}} as const;

/** The formats that have a type for dates. */
export const WITH_DATES: readonly string[] = [${FORMAT_NAMES.filter((format) => FORMATS[format].hasDates)
    .map((format) => `"${format}"`)
    .join(", ")}];
`;

/** The whole of `entities.ts`. */
export function typescriptEntities(entities: readonly Entity[]): string {
  return [
    HEAD,
    `export const ENTITY_NAMES = [\n${entities.map(({ name }) => `  "${name}",\n`).join("")}] as const;`,
    ...entities.flatMap((entity) => [row(entity), params(entity)]),
    "",
    "/** A method for each entity. With `fields`, a row has only these columns. */",
    "export interface EntityMethods {",
    entities.map(method).join("\n"),
    "}",
    "",
  ].join("\n");
}

const TYPES: Record<ColumnType, string> = {
  code: "string",
  text: "string",
  date: "string",
  float64: "number",
  int64: "number",
};

function row({ name, title, columns }: Entity): string {
  const lines = columns.flatMap((column) => [
    `  /** ${column.meaning}${inUnit(column.meaning, column.unit)}${column.type === "date" ? ", `YYYYMMDD`" : ""}. */`,
    `  readonly ${column.name}: ${TYPES[column.type]}${column.nullable ? " | null" : ""};`,
  ]);
  return `\n/** ${title}. */\nexport interface ${pascalCase(name)}Row {\n${lines.join("\n")}\n}`;
}

const FILTERS: Record<ColumnType, string> = {
  code: "Texts",
  text: "Texts",
  date: "Days",
  int64: "Ints",
  float64: "never",
};

/** The type of each kind of parameter; null where the client itself decides. */
const OTHERS: Record<ParameterKind, string | null> = {
  start_date: "Day",
  end_date: "Day",
  as_of: "Days",
  as_of_days: '"month_end" | "week_end"',
  as_of_start: "Day",
  as_of_end: "Day",
  latest: "boolean",
  adjust: '"forward" | "backward"',
  adjust_volume: "boolean",
  fields: null,
  limit: "number",
  cursor: "string",
  order: '"asc" | "desc"',
  data_version: "string",
  format: null,
  dates: null,
  compression: null,
  bom: null,
};

function params(entity: Entity): string {
  const typeOf = (parameter: EntityParameter): string | null =>
    parameter.kind === "filter" ? FILTERS[parameter.column.type] : OTHERS[parameter.kind];
  const asOf = asOfMeaning(entity);
  const lines = parametersOf(entity).flatMap((parameter) => {
    const type = typeOf(parameter);
    if (type === null) return [];
    const comment = parameter.kind === "as_of" && asOf !== null ? [`  /** ${asOf} */`] : [];
    return [...comment, `  readonly ${parameter.name}?: ${type};`];
  });
  return `\nexport interface ${pascalCase(entity.name)}Params {\n${lines.join("\n")}\n}`;
}

function method({ name, about, pointInTime }: Entity): string {
  const base = pascalCase(name);
  const row = `Pick<${base}Row, F>${pointInTime === null ? "" : " & AsOf"}`;
  return [
    `  /** ${about} */`,
    `  ${name}<F extends keyof ${base}Row = keyof ${base}Row>(`,
    `    params?: ${base}Params & { readonly fields?: readonly F[] },`,
    `  ): Answer<${row}>;`,
  ].join("\n");
}

// Panels: a row for each stock and trading day with columns of several entities, each as it was known at the close.
import { ENTITIES, ENTITY_NAMES, columnNamed, entityNamed } from "../catalog/index.js";
import type { Column, Entity } from "../catalog/types.js";
import { nearest, Problem } from "../errors.js";
import {
  codeOf,
  collectParameters,
  unknownParameter,
  invalidParameter,
  oneOf,
  quote,
  required,
  single,
  splitList,
} from "./parameters.js";
import { type EntityRequest, parseRequest, type RequestLimits } from "./request.js";

/** `wide`: a column for each field. `long`: a row for each field. */
export const LAYOUTS = ["wide", "long"] as const;

/** A column of an entity; in responses it is called `entity.column`. */
export interface PanelField {
  readonly entity: string;
  readonly column: string;
}

/** `entity` is the one whose rows are the rows of the panel. */
export interface PanelRequest extends EntityRequest {
  readonly fields: readonly PanelField[];
  readonly layout: (typeof LAYOUTS)[number];
}

export const PANEL_PARAMETERS = [
  ...["entities", "start_date", "end_date", "codes", "layout"],
  ...["limit", "cursor", "order", "data_version", "format", "dates", "compression", "bom"],
] as const;

/** The entities that a panel can have, and those whose rows can be its rows. */
export const PANEL_ENTITIES = ENTITIES.filter(({ panel }) => panel).map(({ name }) => name);
export const FIRST_ENTITIES = ENTITIES.filter(({ panel }) => panel?.by === "day").map(({ name }) => name);

const EXAMPLE = "daily:close,daily_basic:pe,income:total_revenue";

/** Throws a Problem that names the parameter and the accepted values. */
export function parsePanelRequest(search: URLSearchParams, limits: RequestLimits): PanelRequest {
  const parameters = collectParameters(search, PANEL_PARAMETERS, (name) =>
    unknownParameter(name, PANEL_PARAMETERS, name === "ts_code" ? "codes" : undefined),
  );
  const given = required("entities", parameters.get("entities") ?? null, `entity:column, e.g. ${EXAMPLE}`);
  const fields = parseFields(given);
  const entity = entityNamed(fields[0]!.entity)!;
  const layout = single(parameters, "layout", oneOf(LAYOUTS)) ?? "wide";
  const passed = new URLSearchParams([...search].filter(([name]) => !OWN.includes(name)));
  const code = columnNamed(entity, entity.code)!;
  const codes = parameters.get("codes");
  const values = codes && [...new Set(splitList("codes", codes).map((text) => codeOf(entity, code)("codes", text)))];
  return {
    ...parseRequest(entity, passed, limits),
    filters: values ? [{ column: code, values }] : [],
    columns: panelColumns(entity, fields, layout),
    fields,
    layout,
  };
}

/** The parameters that entities do not have. */
const OWN: readonly string[] = ["entities", "codes", "layout"];

/** The name of a field in responses. */
export const nameOf = ({ entity, column }: PanelField): string => `${entity}.${column}`;

/** The column of a field under its name in responses. */
export function fieldColumn(field: PanelField): Column {
  const { type } = columnNamed(entityNamed(field.entity)!, field.column)!;
  return { name: nameOf(field), type, nullable: true };
}

function panelColumns(
  entity: Entity,
  fields: readonly PanelField[],
  layout: PanelRequest["layout"],
): readonly Column[] {
  const keys = [entity.code, entity.mainDate!].map((name) => columnNamed(entity, name)!);
  if (layout === "wide") return [...keys, ...fields.map(fieldColumn)];
  for (const field of fields) {
    const { type } = fieldColumn(field);
    if (type === "float64" || type === "int64") continue;
    const kind = type === "date" ? "a date" : "text";
    throw invalidParameter("entities", `${field.entity}:${field.column} is ${kind}; layout=long is for numbers only`, [
      "columns of numbers",
      "layout=wide",
    ]);
  }
  return [
    ...keys,
    { name: "field", type: "text", nullable: false },
    { name: "value", type: "float64", nullable: true },
  ];
}

function parseFields(given: readonly string[]): readonly PanelField[] {
  const fields = splitList("entities", given).map(parseField);
  const names = fields.map(nameOf);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw invalidParameter("entities", `${twice.replace(".", ":")} is given twice`, [EXAMPLE]);
  const [first] = fields;
  if (!FIRST_ENTITIES.includes(first!.entity)) {
    const why = `${first!.entity} cannot come first: the rows of a panel are those of the first entity`;
    throw invalidParameter("entities", why, FIRST_ENTITIES, "daily:close at the beginning");
  }
  return fields;
}

function parseField(item: string): PanelField {
  const [name = "", column, ...more] = item.split(":").map((part) => part.trim());
  const entity = entityNamed(name);
  if (!entity) {
    const near = nearest(name, ENTITY_NAMES);
    throw new Problem("unknown_entity", `there is no entity ${quote(name)}`, {
      parameter: "entities",
      allowed: PANEL_ENTITIES,
      ...(near ? { hint: `did you mean ${near}?` } : {}),
    });
  }
  if (!entity.panel) {
    throw invalidParameter("entities", `${name} does not have exactly one row for each stock and day`, PANEL_ENTITIES);
  }
  const names = entity.columns.map((one) => one.name);
  if (column === undefined || column === "" || more.length > 0) {
    throw invalidParameter("entities", `${quote(item)} is not entity:column`, [`${name}:column`, ...names]);
  }
  if (!columnNamed(entity, column)) {
    const near = nearest(column, names);
    throw invalidParameter("entities", `${name} has no column ${quote(column)}`, names, near && `${name}:${near}`);
  }
  return { entity: name, column };
}

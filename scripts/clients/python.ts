// Generates the typed methods of the Python client from the catalog.
import { parametersOf, type EntityParameter, type ParameterKind } from "../../src/catalog/parameters.js";
import { DTYPES, type ColumnType, type Entity } from "../../src/catalog/types.js";
import { asOfMeaning, inUnit, pascalCase } from "./words.js";

const HEAD = `"""The entities of the catalog. Made by \`npm run clients\`: change the catalog, not this file."""

from __future__ import annotations

from typing import Any, Literal, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from ._answer import Answer
from ._values import Day, Days, Ints, Texts


class Column(NamedTuple):
    name: str
    #: \`\`string\`\`, \`\`float64\`\` or \`\`int64\`\`.
    dtype: str
    #: Whether it holds days: dates, or with \`\`dates="text"\`\` text, \`\`YYYYMMDD\`\`.
    is_date: bool
    unit: Optional[str]
    meaning: str


class Entity(NamedTuple):
    name: str
    title: str
    about: str
    columns: Tuple[Column, ...]
    #: What \`\`start_date\`\` and \`\`end_date\`\` bound.
    main_date: Optional[str]
`;

/** The whole of `_entities.py`. */
export function pythonEntities(entities: readonly Entity[]): string {
  return [
    HEAD,
    ...entities.map(columnNames),
    "\nclass EntityMethods:",
    '    """A method for each entity. Days may be text, whole numbers, dates or Timestamps; lists mean any of."""',
    "",
    "    def read(self, entity: str, **params: Any) -> Answer:",
    "        raise NotImplementedError",
    ...entities.map(method),
    "",
    "",
    `ENTITIES: Mapping[str, Entity] = {\n${entities.map(literal).join("")}}`,
    "",
  ].join("\n");
}

const columnsType = ({ name }: Entity): string => `${pascalCase(name)}Column`;

const columnNames = (entity: Entity): string =>
  `\n${columnsType(entity)} = Literal[\n${entity.columns.map(({ name }) => `    "${name}",\n`).join("")}]`;

const FILTERS: Record<ColumnType, string> = {
  code: "Optional[Texts]",
  text: "Optional[Texts]",
  date: "Optional[Days]",
  int64: "Optional[Ints]",
  float64: "None",
};

/** The type of each kind of parameter; null where the client itself decides. */
const OTHERS: Record<ParameterKind, (entity: Entity) => string | null> = {
  start_date: () => "Optional[Day]",
  end_date: () => "Optional[Day]",
  as_of: () => "Optional[Days]",
  as_of_days: () => 'Optional[Literal["month_end", "week_end"]]',
  as_of_start: () => "Optional[Day]",
  as_of_end: () => "Optional[Day]",
  latest: () => "Optional[bool]",
  adjust: () => 'Optional[Literal["forward", "backward"]]',
  adjust_volume: () => "Optional[bool]",
  fields: (entity) => `Union[str, Sequence[${columnsType(entity)}], None]`,
  limit: () => "Optional[int]",
  cursor: () => "Optional[str]",
  order: () => 'Optional[Literal["asc", "desc"]]',
  data_version: () => "Optional[str]",
  format: () => null,
  dates: () => 'Optional[Literal["text", "date"]]',
  compression: () => 'Optional[Literal["none", "zstd"]]',
  bom: () => null,
};

function method(entity: Entity): string {
  const typeOf = (parameter: EntityParameter): string | null =>
    parameter.kind === "filter" ? FILTERS[parameter.column.type] : OTHERS[parameter.kind](entity);
  const parameters = parametersOf(entity).flatMap((parameter) => {
    const type = typeOf(parameter);
    return type === null ? [] : [{ name: parameter.name, type }];
  });
  return [
    "",
    `    def ${entity.name}(`,
    "        self,",
    "        *,",
    ...parameters.map(({ name, type }) => `        ${name}: ${type} = None,`),
    "    ) -> Answer:",
    `        """${entity.title}.`,
    "",
    ...meanings(entity).map((line) => (line === "" ? "" : `        ${line}`)),
    '        """',
    "        return self.read(",
    `            "${entity.name}",`,
    ...parameters.map(({ name }) => `            ${name}=${name},`),
    "        )",
  ].join("\n");
}

function meanings(entity: Entity): readonly string[] {
  const asOf = asOfMeaning(entity);
  return [
    doubled(entity.about),
    "",
    ...(entity.mainDate === null ? [] : [`\`\`start_date\`\` and \`\`end_date\`\` bound \`\`${entity.mainDate}\`\`.`]),
    ...(asOf === null ? [] : [doubled(asOf)]),
    ...(entity.adjustment ? [`\`\`adjust\`\` adjusts ${entity.adjustment.prices.join(", ")}.`] : []),
    "",
    "Columns:",
    "",
    ...entity.columns.map(
      ({ name, type, meaning, unit }) =>
        `- \`\`${name}\`\` (${type === "date" ? "day" : DTYPES[type]}): ${meaning}${inUnit(meaning, unit)}`,
    ),
  ];
}

/** As Sphinx writes code. */
const doubled = (words: string): string => words.replaceAll("`", "``");

const text = (value: string | null | undefined): string =>
  value === null || value === undefined ? "None" : JSON.stringify(value);

function literal(entity: Entity): string {
  const columns = entity.columns.map(
    ({ name, type, unit, meaning }) =>
      `            Column("${name}", "${DTYPES[type]}", ${type === "date" ? "True" : "False"}, ${text(unit)}, ${text(meaning)}),\n`,
  );
  return [
    `    "${entity.name}": Entity(\n`,
    ...[entity.name, entity.title, entity.about].map((one) => `        ${text(one)},\n`),
    "        (\n",
    ...columns,
    "        ),\n",
    `        ${text(entity.mainDate)},\n`,
    "    ),\n",
  ].join("");
}

// The OpenAPI description with the Chinese texts of the catalog.
import type { Catalog, CatalogEntity } from "./types.js";

interface Operation {
  summary: string;
  description: string;
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const ENTITY_PATH = /^\/api\/v1\/entities\/([^/]+)(?:\/([^/]+))?$/;

/** What a route below an entity returns. */
const ROUTES: Readonly<Record<string, string>> = {
  gaps: "数据缺口",
  changes: "两个版本之间的变更",
  versions: "发生变更的版本",
  checks: "数据校验",
  statistics: "字段统计",
};

/** Replaces the titles of entities, and gives their rows a description with all columns. */
export function inChinese(text: string, { entities, units }: Catalog): string {
  const api = JSON.parse(text) as Description;
  const byName = new Map(entities.map((entity) => [entity.name, entity]));
  for (const [path, operations] of Object.entries(api.paths)) {
    const [, name = "", route] = ENTITY_PATH.exec(path) ?? [];
    const entity = byName.get(name);
    if (entity === undefined) continue;
    const { title } = entity.chinese;
    for (const operation of Object.values(operations)) {
      if (route === undefined) {
        operation.summary = title;
        operation.description = aboutRows(entity, units);
      } else if (ROUTES[route] !== undefined) operation.summary = `${title}：${ROUTES[route]}`;
    }
  }
  return JSON.stringify(api);
}

function aboutRows({ chinese, columns }: CatalogEntity, units: Catalog["units"]): string {
  const rows = columns.map(
    (column) => `| \`${column.name}\` | ${column.chinese} | ${column.unit === undefined ? "" : units[column.unit]} |`,
  );
  return [chinese.about, "", "| 字段 | 说明 | 单位 |", "| --- | --- | --- |", ...rows].join("\n");
}

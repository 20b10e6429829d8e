// The catalog: every entity, by name.
import { FINANCE } from "./finance.js";
import { INDEX } from "./index-entities.js";
import { MARKET } from "./market.js";
import { REFERENCE } from "./reference.js";
import { REPORTS } from "./reports.js";
import type { Entity, EntityColumn } from "./types.js";

export const ENTITIES: readonly Entity[] = [...MARKET, ...INDEX, ...REFERENCE, ...REPORTS, ...FINANCE];

export const ENTITY_NAMES: readonly string[] = ENTITIES.map((entity) => entity.name);

const entitiesByName = new Map(ENTITIES.map((entity) => [entity.name, entity]));

export function entityNamed(name: string): Entity | undefined {
  return entitiesByName.get(name);
}

/** What a column is called in Chinese: its meaning without what explains it. */
export const chineseName = ({ chinese }: Pick<EntityColumn, "chinese">): string => chinese.split(/[：；，]/, 1)[0]!;

/** The column of `entity` with exactly this name. */
export function columnNamed(entity: Entity, name: string): EntityColumn | undefined {
  return entity.columns.find((column) => column.name === name);
}

// The ids of columns in Parquet files never change, whatever becomes of the columns around them.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { fieldIds } from "../../src/catalog/field-ids.js";
import { ENTITIES, entityNamed } from "../../src/catalog/index.js";

/** The columns in the order of their ids, by entity. Names may be appended; none may be moved or removed. */
const WRITTEN = JSON.parse(readFileSync(new URL("field-ids.json", import.meta.url), "utf8")) as Readonly<
  Record<string, readonly string[]>
>;

test("columns keep the ids that were written: name a new column in ADDED, and append it to field-ids.json", () => {
  const ids = Object.fromEntries(
    ENTITIES.map((entity) => [entity.name, Object.fromEntries(fieldIds(entity))] as const),
  );
  const written = Object.entries(WRITTEN).map(
    ([entity, names]) => [entity, Object.fromEntries(names.map((name, i) => [name, i + 1]))] as const,
  );
  expect(ids).toEqual(Object.fromEntries(written));
});

test("a column that is added in the middle gets the next id, and the others keep theirs", () => {
  const entity = entityNamed("adj_factor")!;
  const [first, ...others] = entity.columns;
  const longer = { ...entity, columns: [first!, { ...first!, name: "new" }, ...others] };
  expect([...fieldIds(longer, { adj_factor: ["new"] })]).toEqual([...fieldIds(entity), ["new", 4]]);
});

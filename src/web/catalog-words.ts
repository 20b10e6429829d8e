// What the catalog says of entities and columns, in the language of the page.
import type { App } from "./app.js";
import type { TextKey } from "./texts.js";
import type { CatalogColumn, CatalogEntity } from "./types.js";

type Speaker = Pick<App, "t" | "language" | "units">;

export const titleOf = ({ language }: Pick<App, "language">, { title, chinese }: CatalogEntity): string =>
  language === "en" ? title : chinese.title;

export const aboutOf = ({ language }: Pick<App, "language">, { about, chinese }: CatalogEntity): string =>
  language === "en" ? about : chinese.about;

export const meaningOf = ({ language }: Pick<App, "language">, { meaning, chinese }: CatalogColumn): string =>
  language === "en" ? meaning : chinese;

/** Empty where there is none. */
export const unitOf = ({ language, units }: Speaker, { unit }: CatalogColumn): string =>
  unit === undefined ? "" : language === "en" ? unit : units[unit];

/** Meaning and unit. */
export function tooltipOf(app: Speaker, column: CatalogColumn): string {
  const [meaning, unit] = [meaningOf(app, column), unitOf(app, column)];
  return unit === "" ? meaning : app.t("inUnit", { meaning, unit });
}

const TYPES = {
  ...{ code: "typeCode", text: "typeText", date: "typeDate", float64: "typeNumber", int64: "typeInteger" },
} as const satisfies Record<CatalogColumn["type"], TextKey>;

export function typeOf({ t }: Speaker, { type, nullable }: CatalogColumn): string {
  const name = t(TYPES[type]);
  return nullable ? t("orNull", { type: name }) : name;
}

/** What stands under the name of a column: its Chinese name, or in English its type. */
export const labelOf = ({ language }: Speaker, { chinese }: CatalogColumn, dtype: string): string =>
  language === "en" ? dtype : chinese.split(/[：；，]/, 1)[0]!;

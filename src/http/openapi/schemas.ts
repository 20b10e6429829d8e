// The words of the description: the kinds of text that parameters and answers are made of, and how to refer to parts.
import { codePattern } from "../../catalog/codes.js";
import { VERSION_PATTERN } from "../../query/request.js";

export type Schema = Readonly<Record<string, unknown>>;

export type Ref = { readonly $ref: string };

export const refTo = (kind: "schemas" | "parameters" | "headers" | "responses", name: string): Ref => ({
  $ref: `#/components/${kind}/${name}`,
});

const monthAndDay = (separator: string): string =>
  `${separator}(?:0[1-9]|1[0-2])${separator}(?:0[1-9]|[12][0-9]|3[01])`;

/** The years that a date may lie in, then month and day in either way of writing. */
const DATE_PATTERN = `(?:0[1-9]|[1-9][0-9])[0-9]{2}(?:${monthAndDay("")}|${monthAndDay("-")})`;

/** The kinds of text, by the names that `schemaOf` refers to. */
export const wordSchemas = {
  Day: { type: "string", pattern: "^[0-9]{8}$", description: "A day in an answer, `YYYYMMDD`." },
  Date: {
    type: "string",
    pattern: `^${DATE_PATTERN}$`,
    description: "A day of the calendar, `YYYYMMDD` or `YYYY-MM-DD`.",
  },
  Code: {
    type: "string",
    pattern: `^${codePattern({})}$`,
    description: "A code such as `600519.SH`.",
  },
  CodeOrBare: {
    type: "string",
    pattern: `^${codePattern({ bareCodes: true })}$`,
    description: "A code such as `600519.SH`, or without its suffix.",
  },
  FilterCode: {
    type: "string",
    pattern: `^(?:null|${codePattern({})})$`,
    description: "A code such as `600519.SH`, or `null` for a missing one.",
  },
  FilterCodeOrBare: {
    type: "string",
    pattern: `^(?:null|${codePattern({ bareCodes: true })})$`,
    description: "A code such as `600519.SH`, with or without its suffix, or `null` for a missing one.",
  },
  Cursor: { type: "string", pattern: "^[A-Za-z0-9_-]+$", description: "Made by the server; clients need not read it." },
  DataVersion: {
    type: "string",
    pattern: VERSION_PATTERN.source,
    description: "Version of the whole lake, ISO 8601. As a request parameter it reads this state again.",
  },
  FilterDate: {
    type: "string",
    pattern: `^(?:null|${DATE_PATTERN})$`,
    description: "A day, `YYYYMMDD` or `YYYY-MM-DD`, or `null` for a missing one.",
  },
  FilterText: {
    type: "string",
    pattern: '^(?:[^,]*[^,\\s][^,]*|"(?:[^"]|"")*,(?:[^"]|"")*")$',
    description:
      "Exactly this text, or `null` for a missing one. Text with a comma stands in quotes, " +
      'and a quote in it twice, as in CSV: `"a,b"`.',
  },
} as const satisfies Record<string, Schema>;

/** Refers to a kind of text. */
export const schemaOf = (name: keyof typeof wordSchemas): Ref => refTo("schemas", name);

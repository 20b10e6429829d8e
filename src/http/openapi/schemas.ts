// The parts of the description that others refer to: kinds of text, and problem documents.
import { codePattern } from "../../catalog/codes.js";
import { PROBLEMS, type ProblemCode } from "../../errors.js";
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

// Problem documents as OpenAPI describes them: one response a status, its codes from the table of problems.

/** What any request may meet. */
export const EVERYWHERE = ["method_not_allowed", "internal_error"] as const satisfies readonly ProblemCode[];

/** What a request that needs a token may meet. */
export const TOKEN = [
  ...EVERYWHERE,
  "unauthorized",
  "too_many_requests",
  "tokens_unavailable",
] as const satisfies readonly ProblemCode[];

/** What a request that reads rows may meet. */
export const READING = [
  "unknown_parameter",
  "unknown_version",
  "version_removed",
  "data_damaged",
  "data_unavailable",
  "overloaded",
  "out_of_room",
  "deadline_exceeded",
] as const satisfies readonly ProblemCode[];

const CODES = Object.keys(PROBLEMS) as ProblemCode[];

const codesOf = (status: number): readonly ProblemCode[] => CODES.filter((code) => PROBLEMS[code].status === status);

const STATUSES = [...new Set(CODES.map((code) => PROBLEMS[code].status))];

export const problemSchema: Schema = {
  type: "object",
  description: "What went wrong, after RFC 9457. `code` is stable; `title` and `detail` are for people.",
  required: ["type", "title", "status", "detail", "code"],
  properties: {
    type: { type: "string", format: "uri", enum: CODES.map(problemType) },
    title: { type: "string" },
    status: { type: "integer", enum: STATUSES },
    detail: { type: "string", description: "What was wrong with this request." },
    code: { type: "string", enum: CODES },
    parameter: { type: "string", description: "The parameter at fault." },
    allowed: { type: "array", items: { type: "string" }, description: "What would be accepted." },
    hint: { type: "string", description: "The way out, in one sentence." },
  },
  additionalProperties: false,
};

function problemType(code: ProblemCode): string {
  return `urn:tapehouse:problem:${code}`;
}

const header = (description: string, schema: Schema = { type: "string" }): Schema => ({
  description,
  required: true,
  schema,
});

const retryAfter = { "Retry-After": header("Seconds to wait.", { type: "integer", minimum: 1 }) };

/** Headers that only problems of a status have. */
const HEADERS: Readonly<Record<number, Schema>> = {
  401: { "WWW-Authenticate": header("How to say who asks.", { type: "string", const: 'Bearer realm="tapehouse"' }) },
  405: { Allow: header("The methods on offer.", { type: "string", const: "GET, HEAD" }) },
  426: { Upgrade: header("What to ask over.", { type: "string", const: "HTTP/1.1" }) },
  429: retryAfter,
  503: retryAfter,
};

/** One response for each status, by the name that `problemResponses` refers to. */
export const problemComponents: Schema = Object.fromEntries(
  STATUSES.map((status) => {
    const codes = codesOf(status);
    const cacheControl = { "Cache-Control": header("Problems are not kept.", { type: "string", const: "no-store" }) };
    const schema = {
      allOf: [refTo("schemas", "Problem"), { properties: { status: { const: status }, code: { enum: codes } } }],
    };
    return [
      `Problem${status}`,
      {
        description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(" "),
        headers: { ...cacheControl, ...HEADERS[status] },
        content: { "application/problem+json": { schema } },
      },
    ];
  }),
);

/** References to the responses of every status that one of these codes has. */
export function problemResponses(codes: readonly ProblemCode[]): Schema {
  const statuses = STATUSES.filter((status) => codes.some((code) => PROBLEMS[code].status === status));
  return Object.fromEntries(statuses.map((status) => [status, refTo("responses", `Problem${status}`)]));
}

// Problem documents as OpenAPI describes them: one response a status, its codes from the table of problems.
import { PROBLEMS, type ProblemCode } from "../../errors.js";
import { refTo, type Schema } from "./schemas.js";

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

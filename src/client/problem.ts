// What an answer that is no success says, whoever wrote it.
import { textOf, type Body } from "./body.js";
import { ProblemError, readable } from "./errors.js";

/** Bytes of a body that explains an error, and how many values that would be accepted are kept. */
const LONGEST_ERROR = 65_536;
const MOST_ALLOWED = 1_000;

/** The problem document of an answer, or what can be said without one (a proxy may have answered). */
export async function problemOf(response: Response, body: Body): Promise<ProblemError> {
  const { status, headers } = response;
  const found = objectOf(await textOf(body, LONGEST_ERROR).catch(() => ""));
  const redirect = isRedirect(response);
  const allowed = Array.isArray(found.allowed) ? found.allowed.slice(0, MOST_ALLOWED).map(textIn) : [];
  const parameter = textIn(found.parameter);
  const hint = textIn(found.hint) ?? (redirect ? "create the client with the final URL" : undefined);
  const reason = redirect
    ? `the server redirects to ${readable(headers.get("Location") ?? "another address")}, which is not followed`
    : readable(response.statusText) || "no reason given";
  const problem = {
    status,
    code: textIn(found.code) || `http_${status}`,
    detail: textIn(found.detail) || reason,
    ...(parameter === undefined ? {} : { parameter }),
    ...(Array.isArray(found.allowed) ? { allowed: allowed.filter((text) => text !== undefined) } : {}),
    ...(hint === undefined ? {} : { hint }),
  };
  return new ProblemError(problem, headers.get("X-Request-Id"), waitOf(headers.get("Retry-After")));
}

/** Browsers hide where a redirect leads, and its status. */
const isRedirect = ({ status, type }: Response): boolean =>
  type === "opaqueredirect" || (status >= 300 && status < 400 && status !== 304);

function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const textIn = (value: unknown): string | undefined => (typeof value === "string" ? readable(value) : undefined);

/** `Retry-After`, which is seconds or a date, in milliseconds. */
function waitOf(text: string | null): number | null {
  if (text === null) return null;
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(wait) ? null : Math.max(0, wait);
}

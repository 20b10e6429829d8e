// Error responses, from Tapehouse or a proxy, as exceptions.
import { ProblemError, readable } from "./errors.js";

/** Maximum number of accepted values that are kept. */
const MOST_ALLOWED = 1_000;

/** The problem document in the body of a response, or a substitute if there is none, e.g. from a proxy. */
export function problemOf(response: Response, text: string): ProblemError {
  const { status, headers } = response;
  const found = objectOf(text);
  const redirect = isRedirect(response);
  const allowed = Array.isArray(found.allowed) ? found.allowed.slice(0, MOST_ALLOWED).map(textIn) : [];
  const parameter = textIn(found.parameter);
  const [line, column] = [countIn(found.line), countIn(found.column)];
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
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
  };
  return new ProblemError(problem, headers.get("X-Request-Id"), waitOf(headers.get("Retry-After")));
}

/** Browsers hide the target and status of a redirect. */
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

const countIn = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;

/** `Retry-After`, in seconds or as a date, in milliseconds. */
function waitOf(text: string | null): number | null {
  if (text === null) return null;
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(wait) ? null : Math.max(0, wait);
}

// Requests to the server, with the token of this tab. A response is data or a problem.

/** What the server says where it refuses. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly problem: {
      readonly code: string;
      readonly detail: string;
      readonly hint: string | null;
      readonly parameter: string | null;
      readonly allowed: readonly string[];
      /** Of a statement of SQL: where its mistake is, both from 1; null where that is not known. */
      readonly place: { readonly line: number; readonly column: number } | null;
    },
  ) {
    super(problem.detail);
  }
}

export type Parameters = Readonly<Record<string, string>>;

const KEY = "tapehouse-token";

export const token = {
  /** Null where none was given in this tab. */
  get: (): string | null => sessionStorage.getItem(KEY),
  set: (value: string): void => sessionStorage.setItem(KEY, value),
  forget: (): void => sessionStorage.removeItem(KEY),
};

/** The absolute address of a path of this server, wherever a proxy has put it. */
export function addressOf(path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams(parameters).toString().replaceAll("%2C", ",");
  return new URL(path + (query === "" ? "" : `?${query}`), document.baseURI).href;
}

/** The JSON at a path. Throws as `open` does. */
export async function ask<T>(path: string, parameters: Parameters, signal: AbortSignal): Promise<T> {
  return (await (await open(path, parameters, signal)).json()) as T;
}

/**
 * The response at a path, with its body still to be read. Throws a Refusal, or a TypeError if the server cannot be
 * reached; so does reading a body that is cut.
 */
export const open = (path: string, parameters: Parameters, signal: AbortSignal): Promise<Response> =>
  request(addressOf(path, parameters), {}, { signal });

/** As `open`, with JSON as the body of the request. */
export const post = (path: string, content: object, signal: AbortSignal): Promise<Response> =>
  request(addressOf(path), JSON_BODY, { method: "POST", body: JSON.stringify(content), signal });

const JSON_BODY = { "Content-Type": "application/json" };

async function request(address: string, more: Record<string, string>, options: RequestInit): Promise<Response> {
  const secret = token.get();
  const headers: Record<string, string> = { Accept: "application/json", ...more };
  if (secret !== null) headers["Authorization"] = `Bearer ${secret}`;
  const answer = await fetch(address, { ...options, headers });
  if (answer.ok) return answer;
  throw await refusalOf(answer);
}

async function refusalOf(answer: Response): Promise<Refusal> {
  const problem = (await answer.json().catch(() => ({}))) as Partial<Record<string, unknown>>;
  const text = (name: string): string | null => (typeof problem[name] === "string" ? problem[name] : null);
  const allowed = Array.isArray(problem["allowed"]) ? problem["allowed"].map(String) : [];
  const detail = text("detail") ?? `${answer.status} ${answer.statusText}`;
  const [hint, parameter] = [text("hint"), text("parameter")];
  const [line, column] = [problem["line"], problem["column"]];
  const place = typeof line === "number" && typeof column === "number" ? { line, column } : null;
  return new Refusal(answer.status, { code: text("code") ?? "", detail, hint, parameter, allowed, place });
}

// Many clients that ask at the same time and check each answer, while the lake moves on.
import { Agent, request, type IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import type { Model, Row } from "./traffic-model.js";
import { READERS } from "./traffic-readers.js";
import { FORMAT_NAMES, type Format } from "../../src/catalog/formats.js";
import { makeQuestion, pick, seeded, type Question, type Random } from "./traffic-questions.js";

export interface Traffic {
  readonly url: string;
  readonly clients: number;
  /** Asked before each question. */
  readonly goesOn: (asked: number) => boolean;
  /** The models that are known, by data_version; the last one is the newest. */
  readonly models: ReadonlyMap<string, Model>;
  /** The model of any version that was ever served; undefined where there never was such a one. */
  readonly modelFor: (version: string) => Promise<Model | undefined>;
  /** The token of the moment. */
  readonly token: () => string;
  /** Whether older versions may be removed meanwhile. */
  readonly forgets?: boolean;
}

export interface Outcome {
  readonly wrong: readonly string[];
  /** Milliseconds, ascending, by kind. */
  readonly times: ReadonlyMap<string, readonly number[]>;
  readonly refused: number;
  readonly unchanged: number;
  /** Questions that the client itself brought too late. */
  readonly late: number;
  readonly asked: number;
  /** Answers, and pages of them, whose rows were all compared. */
  readonly compared: ReadonlyMap<Format, number>;
}

/** Milliseconds that a server waits for the head of a request. */
const HEAD_WITHIN = 10_000;

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const ask = (url: string, agent: Agent | false, headers: Record<string, string>): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const asking = request(url, { agent, headers }, (response) => {
      buffer(response).then(
        (body) => resolve({ status: response.statusCode!, headers: response.headers, body }),
        reject,
      );
    });
    asking.on("error", reject).end();
  });

const shownAs = (format: Format, rows: readonly Row[]): string =>
  JSON.stringify(
    format === "csv" ? rows.map((row) => row.map((value) => (value === null ? null : String(value)))) : rows,
  );

/** What is wrong with an answer; null where nothing is. */
type Fault = string | null;

export async function runTraffic({
  url,
  clients,
  goesOn,
  models,
  modelFor,
  token,
  forgets,
}: Traffic): Promise<Outcome> {
  const wrong: string[] = [];
  const times = new Map<string, number[]>();
  let [asked, refused, unchanged, late] = [0, 0, 0, 0];
  const newest = (): readonly [string, Model] => [...models].at(-1)!;

  const compared = new Map<Format, number>(FORMAT_NAMES.map((format) => [format, 0]));

  /** What differs between the rows of a body and those it must have. */
  const compare = async (format: Format, body: Buffer, columns: readonly string[], wanted: readonly Row[]) => {
    const found = await READERS[format](body, columns);
    compared.set(format, compared.get(format)! + 1);
    return shownAs(format, found) === shownAs(format, wanted) ? null : difference(format, found, wanted);
  };

  async function send(question: Question, query: object, agent: Agent | false, headers: Record<string, string>) {
    const address = `${url}${question.path}?${new URLSearchParams(query as Record<string, string>).toString()}`;
    for (;;) {
      const began = performance.now();
      const authorization: Record<string, string> =
        question.authorized === false ? {} : { Authorization: `Bearer ${token()}` };
      const answer = await ask(address, agent, { ...authorization, ...headers });
      // So many clients in one process may be late themselves: then they are told, and rightly.
      if (answer.status === 408 && performance.now() - began > HEAD_WITHIN) {
        late++;
        continue;
      }
      if (answer.status !== 429 && answer.status !== 503) {
        const known = times.get(question.kind);
        if (known) known.push(performance.now() - began);
        else times.set(question.kind, [performance.now() - began]);
        return answer;
      }
      if (!(Number(answer.headers["retry-after"]) > 0)) throw new Error(`${answer.status} without Retry-After`);
      refused++;
      await sleep(200);
    }
  }

  async function check(question: Question, random: Random, agent: Agent | false): Promise<Fault> {
    const { expected } = question;
    const gzip = random() < 0.4;
    const format = expected.is === "rows" ? pick(random, FORMAT_NAMES) : "json";
    const pinned =
      expected.is === "rows" && models.size > 1 && random() < 0.15 ? pick(random, [...models.keys()]) : null;
    const query = {
      ...question.query,
      ...(format === "json" ? {} : { format }),
      ...(pinned === null ? {} : { data_version: pinned }),
      ...(question.pageSize === undefined ? {} : { limit: String(question.pageSize) }),
    };
    const headers: Record<string, string> = { "Accept-Encoding": gzip ? "gzip" : "identity" };
    const answer = await send(question, query, agent, headers);
    if (expected.is === "problem") {
      const { code } = JSON.parse(answer.body.toString()) as { code: string };
      return answer.status === expected.status && code === expected.code ? null : `${answer.status} ${code}`;
    }
    if (forgets && pinned !== null && answer.status === 410) return null;
    if (answer.status !== 200) return `${answer.status} ${answer.body.toString().slice(0, 300)}`;
    const version = answer.headers["x-data-version"] as string;
    if (pinned !== null && version !== pinned) return `of version ${version} where ${pinned} was asked`;
    const model = await modelFor(version);
    if (!model) return `of a version that never was: ${version}`;
    const body = answer.headers["content-encoding"] === "gzip" ? gunzipSync(answer.body) : answer.body;
    if (expected.is === "json") {
      const found = JSON.stringify(expected.pick(JSON.parse(body.toString()) as never));
      return found === JSON.stringify(expected.value(model)) ? null : `says ${found.slice(0, 300)}`;
    }
    const rows = expected.rows(model);
    const first = question.pageSize === undefined ? rows : rows.slice(0, question.pageSize);
    const fault =
      (await compare(format, body, expected.columns, first)) ??
      (await checkAgain(question, query, answer, agent, headers));
    if (fault !== null) return fault;
    return question.pageSize === undefined ? null : checkPages(question, rows, answer, format, body, agent, headers);
  }

  /** With its tag the same question gives 304, unless the rows have changed. */
  async function checkAgain(
    question: Question,
    query: object,
    { headers: { etag } }: Answer,
    agent: Agent | false,
    headers: Record<string, string>,
  ): Promise<Fault> {
    if (asked % 5 !== 0) return null;
    const again = await send({ ...question, kind: "again" }, query, agent, { ...headers, "If-None-Match": etag! });
    // The version may have been removed since.
    if (forgets && again.status === 410) return null;
    if (again.status === 304) unchanged++;
    return again.status === 304 || (again.status === 200 && again.headers.etag !== etag)
      ? null
      : `again ${again.status}`;
  }

  /** The pages after the first one, all of the version of the first. */
  async function checkPages(
    question: Question,
    rows: readonly Row[],
    first: Answer,
    format: Format,
    body: Buffer,
    agent: Agent | false,
    headers: Record<string, string>,
  ): Promise<Fault> {
    const cursorOf = ({ headers: found }: Answer, text: Buffer): string | null =>
      format === "json"
        ? (JSON.parse(text.toString()) as { next_cursor: string | null }).next_cursor
        : ((found["x-next-cursor"] as string | undefined) ?? null);
    const { expected, pageSize } = question;
    if (expected.is !== "rows" || pageSize === undefined) return null;
    let cursor = cursorOf(first, body);
    let from = pageSize;
    for (; cursor !== null; from += pageSize) {
      const query = { ...question.query, limit: String(pageSize), cursor, ...(format === "json" ? {} : { format }) };
      const answer = await send(question, query, agent, headers);
      if (forgets && answer.status === 410) return null;
      if (answer.status !== 200) return `page: ${answer.status} ${answer.body.toString().slice(0, 200)}`;
      const text = answer.headers["content-encoding"] === "gzip" ? gunzipSync(answer.body) : answer.body;
      const fault = await compare(format, text, expected.columns, rows.slice(from, from + pageSize));
      if (fault !== null) return `page at ${from}: ${fault}`;
      cursor = cursorOf(answer, text);
    }
    return from >= rows.length ? null : `pages end at ${from} of ${rows.length} rows`;
  }

  async function client(seed: number): Promise<void> {
    const random = seeded(seed);
    const agent = seed % 4 === 0 ? false : new Agent({ keepAlive: true, maxSockets: 1 });
    while (goesOn(asked)) {
      asked++;
      const question = makeQuestion(random, newest()[1]);
      const told = `${question.kind} ${question.path} ${JSON.stringify(question.query)}`;
      try {
        const fault = await check(question, random, agent);
        if (fault !== null) wrong.push(`${told}: ${fault}`);
      } catch (error) {
        wrong.push(`${told}: ${String(error)}`);
      }
    }
    if (agent) agent.destroy();
  }

  await Promise.all(Array.from({ length: clients }, (_, i) => client(i + 1)));
  for (const list of times.values()) list.sort((a, b) => a - b);
  return { wrong, times, refused, unchanged, late, asked, compared };
}

function difference(format: Format, found: readonly Row[], wanted: readonly Row[]): string {
  const at = wanted.findIndex((row, i) => shownAs(format, [row]) !== shownAs(format, [found[i] ?? []]));
  return `${format}: ${found.length} rows for ${wanted.length}; row ${at} is ${JSON.stringify(found[at])} for ${JSON.stringify(wanted[at])}`;
}

/** A table of latencies, milliseconds. */
export function latencies({ times }: Outcome): string {
  const at = (sorted: readonly number[], q: number): string =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]!.toFixed(1);
  const rows = [...times].map(([kind, sorted]) => [
    kind,
    String(sorted.length),
    ...[0.5, 0.95, 0.99, 1].map((q) => at(sorted, q)),
  ]);
  const head = ["question", "asked", "p50", "p95", "p99", "most"];
  return [head, ...rows]
    .map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(16) : cell.padStart(9))).join(""))
    .join("\n");
}

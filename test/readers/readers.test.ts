// Responses of every format, read by libraries of several languages: each finds the same columns, rows and values.
import { readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { run } from "../support/run.js";
import { isLong } from "../support/size.js";
import { dumped, makeAnswers, type Answer } from "./answers.js";
import { LINEAGES, type Lineage } from "./lineages.js";
import { collapsesEmpty, expectedRefusal, isUnordered } from "./limits.js";
import { NODE_READERS } from "./node.js";

const TIMEOUT = 600_000;

let answers: readonly Answer[];

describe.runIf(isLong)("responses are read", () => {
  beforeAll(async () => {
    answers = await makeAnswers();
  }, TIMEOUT);

  for (const [language, lineage] of Object.entries(LINEAGES)) {
    const title = `by ${language}${lineage.missing === null ? "" : ` (${lineage.missing})`}`;
    test.skipIf(lineage.missing !== null)(title, { timeout: TIMEOUT }, async () => {
      expect(differences(await readBy(language, lineage))).toEqual([]);
    });
  }

  test("by Node", { timeout: TIMEOUT }, async () => {
    const dumps: Dump[] = [];
    for (const [reader, answer] of tasksOf(Object.keys(NODE_READERS))) {
      dumps.push([reader, answer, await NODE_READERS[reader]!(answer)]);
    }
    expect(differences(dumps)).toEqual([]);
  });
});

type Dump = readonly [reader: string, answer: Answer, dump: string];

/** Each reader with the responses of its format, which is the last part of its name. */
const tasksOf = (readers: readonly string[]): (readonly [string, Answer])[] =>
  readers.flatMap((reader) =>
    answers.filter(({ format }) => format === reader.split(".").at(-1)).map((answer) => [reader, answer] as const),
  );

/** Runs a program with the list of its tasks, one a line: reader, response, where to write what it read, columns. */
async function readBy(language: string, { readers, command }: Lineage): Promise<Dump[]> {
  const folder = dirname(answers[0]!.path);
  const list = join(folder, `${language}.tasks`);
  const outputOf = (reader: string, { path }: Answer): string => `${list}-${reader}-${basename(path)}`;
  const lines = tasksOf(readers).map(([reader, answer]) =>
    [reader, answer.path, outputOf(reader, answer), ...answer.columns.map((column) => column.join(":"))].join("\t"),
  );
  await writeFile(list, `${lines.join("\n")}\n`);
  const { output, exitCode } = await run(command[0]!, [...command.slice(1), list], {});
  if (exitCode !== 0) throw new Error(`the reader ended with ${exitCode}\n${output}`);
  return Promise.all(
    tasksOf(readers).map(
      async ([reader, answer]) => [reader, answer, await readFile(outputOf(reader, answer), "utf8")] as const,
    ),
  );
}

/** What was read differently from what was served, one line for each response. */
function differences(dumps: readonly Dump[]): string[] {
  return dumps.flatMap(([reader, answer, dump]) => {
    const refusal = expectedRefusal(reader, answer);
    if (refusal?.test(dump)) return [];
    const shown = collapsesEmpty(reader, answer) ? withoutEmpty : (text: string): string => text;
    const [found, expected] = [dump, dumped(answer.columns, answer.rows)].map((text) => {
      const lines = shown(text).split("\n");
      return isUnordered(reader) ? lines.sort() : lines;
    });
    const at = expected!.findIndex((line, i) => line !== found![i]);
    if (at < 0 && found!.length === expected!.length) return [];
    const first = `line ${at} is ${found![at]?.slice(0, 500)} instead of ${expected![at]}`;
    return [`${reader}, ${answer.name}: ${found!.length} lines instead of ${expected!.length}; ${first}`];
  });
}

/** Empty texts as missing values. */
const withoutEmpty = (dump: string): string => dump.replace(/(?<=^|\t)t(?=\t|$)/gm, "-");

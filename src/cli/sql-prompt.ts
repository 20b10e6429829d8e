// The prompt of `tapehouse sql`: statements end with a semicolon, names are completed, and the history is kept.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline/promises";
import { ENTITIES } from "../catalog/index.js";
import { reasonOf } from "../errors.js";
import { TABLE_FUNCTIONS } from "../sql/calls.js";
import { SHIFT } from "../sql/check.js";
import { note } from "./out.js";

/** Lines of the history that are kept. */
const KEPT = 1_000;

const historyFile = (): string =>
  join(process.env["XDG_STATE_HOME"] || join(homedir(), ".local", "state"), "tapehouse", "sql-history");

const WORDS = [
  ...[
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "ORDER BY",
    "HAVING",
    "QUALIFY",
    "LIMIT",
    "JOIN",
    "ASOF JOIN",
    "USING",
    "WITH",
  ],
  ...TABLE_FUNCTIONS,
  SHIFT,
  ...new Set(ENTITIES.flatMap(({ name, columns }) => [name, ...columns.map((column) => column.name)])),
];

/** The names that begin like the last word of a line, and that word. */
export function complete(line: string): [string[], string] {
  const word = /[\w]*$/.exec(line)![0];
  const begun = WORDS.filter((one) => word !== "" && one.toLowerCase().startsWith(word.toLowerCase()));
  return [begun, word];
}

/** Reads and runs statements until the input ends. An error of a statement is printed. Ctrl-C ends what runs. */
export async function startPrompt(
  version: string,
  run: (sql: string, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const path = historyFile();
  const history = (await readFile(path, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  const isTerminal = process.stdin.isTTY;
  const prompt = createInterface({
    ...{ input: process.stdin, output: process.stderr, terminal: isTerminal, completer: complete },
    ...{ history: history.toReversed(), historySize: KEPT, prompt: "sql> " },
  });
  if (isTerminal) note(`data_version ${version}; end a statement with ; and the prompt with Ctrl-D`);
  let stopping = new AbortController();
  prompt.on("SIGINT", () => {
    if (text === "" && prompt.line === "" && !isRunning) prompt.close();
    stopping.abort(new Error("stopped"));
    text = "";
    // What was typed is left in sight.
    note("");
    prompt.write(null, { ctrl: true, name: "u" });
    prompt.setPrompt("sql> ");
    prompt.prompt();
  });
  let text = "";
  let isRunning = false;
  if (isTerminal) prompt.prompt();
  for await (const line of prompt) {
    if (text === "" && /^\s*(exit|quit|\\q|\.exit|\.quit)\s*;?\s*$/i.test(line)) break;
    text += `${line}\n`;
    if (/;\s*$/.test(text)) {
      // A comment would hide what follows it on the same line.
      history.push(
        text
          .replaceAll(/--[^\n']*\n/g, "\n")
          .trim()
          .replaceAll("\n", " "),
      );
      stopping = new AbortController();
      isRunning = true;
      await run(text, stopping.signal).catch((error: unknown) => note(reasonOf(error)));
      [isRunning, text] = [false, ""];
    }
    prompt.setPrompt(text === "" ? "sql> " : "  -> ");
    if (isTerminal) prompt.prompt();
  }
  prompt.close();
  if (!isTerminal) {
    if (text.trim() !== "") await run(text, stopping.signal);
    return;
  }
  // A history that cannot be kept is no reason to fail.
  await mkdir(dirname(path), { recursive: true }).catch(() => undefined);
  await writeFile(path, `${history.slice(-KEPT).join("\n")}\n`, { mode: 0o600 }).catch(() => undefined);
}

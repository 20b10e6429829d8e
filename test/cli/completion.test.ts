// The scripts, read by the shells themselves.
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { run } from "../../src/cli/program.js";
import { temporaryFolder } from "../support/folders.js";

let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  for (const name of ["bars one.csv", "bars two.csv"]) writeFileSync(join(folder, name), "");
  for (const shell of ["bash", "zsh", "fish"]) {
    let script = "";
    vi.spyOn(process.stdout, "write").mockImplementation((text) => ((script += String(text)), true));
    await run(["completion", shell]);
    vi.restoreAllMocks();
    writeFileSync(join(folder, `tapehouse.${shell}`), script);
  }
});
afterEach(() => void vi.restoreAllMocks());

/** `describe`, skipped with a message if the shell is missing. */
const describeIn = (shell: string, body: () => void): void => {
  const isThere = spawnSync(shell, ["-c", "exit 0"]).status === 0;
  describe.skipIf(!isThere)(isThere ? `in ${shell}` : `in ${shell} (skipped: it is not installed)`, body);
};

/** Words typed so far, the last one incomplete → suggestions. */
const CASES: readonly (readonly [readonly string[], readonly string[]])[] = [
  [["tok"], ["token"]],
  [
    ["token", ""],
    ["create", "list", "revoke"],
  ],
  [
    ["import", "stk_auction"],
    ["stk_auction", "stk_auction_c", "stk_auction_o"],
  ],
  [["gaps", "add", "suspend"], ["suspend_d"]],
  [
    ["import", "daily", "--m"],
    ["--map", "--max-file-rows", "--max-unpacked", "--memory", "--mirror", "--mirror-size"],
  ],
  [["import", "--memory", "1GB", "adj"], ["adj_factor"]],
  [["serve", "--log-level", "w"], ["warn"]],
  [
    ["serve", "--watch", "o"],
    ["off", "on"],
  ],
  [["serve", "--port", ""], []],
  [
    ["completion", ""],
    ["bash", "fish", "zsh"],
  ],
];

describeIn("bash", () => {
  const ask = (words: readonly string[]): readonly string[] => {
    const script =
      'source ./tapehouse.bash; COMP_WORDS=(tapehouse "$@"); COMP_CWORD=$#; _tapehouse; ' +
      '((${#COMPREPLY[@]})) && printf "%s\\n" "${COMPREPLY[@]}"; exit 0';
    const told = execFileSync("bash", ["-c", script, "bash", ...words], { cwd: folder, encoding: "utf8" });
    return told.split("\n").filter(Boolean).sort();
  };

  test.each(CASES)("tapehouse %j", (words, offered) => {
    expect(ask(words)).toEqual(offered);
  });

  test("the last item of a list is completed, files with spaces are not split, and folders are suggested for folders", () => {
    expect(ask(["token", "create", "alice", "--entities", "daily,adj"])).toEqual(["daily,adj_factor"]);
    expect(ask(["import", "daily", "bars"])).toEqual(["bars one.csv", "bars two.csv"]);
    expect(ask(["status", "--data", "bars"])).toEqual([]);
  });
});

describeIn("zsh", () => {
  test("a key completes commands and lists", () => {
    const script = `zmodload zsh/zpty
      zpty z "zsh -f -i"
      zpty -w z "autoload -Uz compinit; compinit -u -D; source ./tapehouse.zsh; PS1=REA''DY"
      zpty -r z out '*READY*'
      zpty -n -w z $'tapehouse token create x --entities daily,adj\\t'
      zpty -r z out '*adj_factor*' && print one
      zpty -n -w z $'\\C-utapehouse versi\\t'
      zpty -r z out '*versions*' && print two
      zpty -d z`;
    expect(execFileSync("zsh", ["-f", "-c", script], { cwd: folder, encoding: "utf8", timeout: 30_000 })).toBe(
      "one\ntwo\n",
    );
  });
});

describeIn("fish", () => {
  test.each(CASES)("tapehouse %j", (words, offered) => {
    const line = ["tapehouse", ...words].join(" ");
    const script = `source ./tapehouse.fish; complete -C "${line}"`;
    const told = execFileSync("fish", ["--no-config", "-c", script], { cwd: folder, encoding: "utf8" });
    const found = told.split("\n").map((one) => one.split("\t")[0]!);
    expect(found.filter(Boolean).sort()).toEqual(offered);
  });
});

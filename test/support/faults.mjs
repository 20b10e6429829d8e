// A process in which `tapehouse` meets a crash or a full disk at each of its writing calls in turn. Plain Node: it runs dist.
//
//   node faults.mjs snapshot LAKE FOLDER -- ARGS   runs the command once; before and within each call the lake is copied to
//                                                  FOLDER/<n>: just what would be on the disk had the process died there
//   node faults.mjs kill N [SIGNAL] -- ARGS        runs the command until call N, then signals itself; exit code 0 where it has fewer
//   node faults.mjs full LAKE FOLDER -- ARGS       runs the command on copies FOLDER/<n> whose disk is full from call n on,
//                                                  until it needs no more; writes FOLDER/outcomes.json: [{ exitCode, message }]
//
// `{}` in ARGS stands for the lake.
import { cpSync } from "node:fs";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

const [mode, ...rest] = process.argv.slice(2);
const split = rest.indexOf("--");
const [target, folder] = rest.slice(0, split);
const args = rest.slice(split + 1);

let calls = 0;
/** Called before each writing call; with `torn`, a function that does a part of it. */
let meet = () => undefined;

const handle = await promises.open(import.meta.filename);
const FileHandle = Object.getPrototypeOf(handle);
await handle.close();

/** Functions that change the disk, and whether what they write can be there by half: the place of the data among the arguments. */
const WRITING = [
  ...["rename", "link", "rm", "mkdir", "mkdtemp", "open"].map((name) => [promises, name, null]),
  ...["writeFile", "appendFile"].map((name) => [promises, name, 1]),
  ...["write", "writeFile"].map((name) => [FileHandle, name, 0]),
];
for (const [owner, name, data] of WRITING) {
  const original = owner[name];
  owner[name] = async function (...given) {
    if (name === "open" && !/[wa]/.test(String(given[1] ?? "r"))) return original.apply(this, given);
    meet(name);
    if (mode !== "snapshot" || data === null || given[data].length < 2) return original.apply(this, given);
    const [half, other] = [given[data].slice(0, given[data].length / 2), given[data].slice(given[data].length / 2)];
    await original.apply(this, given.with(data, half));
    meet(name);
    const continues = name === "appendFile" || (owner === FileHandle && name === "writeFile");
    return original.apply(this, continues ? given.with(data, other) : given);
  };
}
syncBuiltinESMExports();
const { run } = await import("../../dist/cli/program.js");
const runOn = (lake) => run(args.map((arg) => arg.replaceAll("{}", lake)));

const MODES = {
  async snapshot() {
    meet = () =>
      cpSync(target, `${folder}/${++calls}`, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    return runOn(target);
  },
  async kill() {
    meet = () => ++calls === Number(target) && process.kill(process.pid, folder ?? "SIGKILL");
    return runOn(target);
  },
  async full() {
    const outcomes = [];
    const write = process.stderr.write;
    for (let isFull = true; isFull;) {
      const [lake, first] = [`${folder}/${outcomes.length + 1}`, outcomes.length + 1];
      cpSync(target, lake, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
      [calls, isFull] = [0, false];
      // Removing works on a full disk.
      meet = (name) => {
        if (name === "rm" || ++calls < first) return;
        isFull = true;
        throw Object.assign(new Error(`ENOSPC: no space left on device, ${name}`), { code: "ENOSPC" });
      };
      let message = "";
      process.stderr.write = (text) => (message += text).length > 0;
      const exitCode = await runOn(lake);
      process.stderr.write = write;
      outcomes.push({ exitCode, message });
    }
    meet = () => undefined;
    await promises.writeFile(`${folder}/outcomes.json`, JSON.stringify(outcomes));
    return 0;
  },
};
process.exitCode = await MODES[mode]();

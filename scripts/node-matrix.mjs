// Runs the commands of package.json in fresh clones of the last commit, with every supported Node and npm:
//
//   node scripts/node-matrix.mjs [--node 20,22,24] [--npm 10,11] [COMMAND...]
//
// Node and npm come from npm's registry. Prints a line for each command and the output of those that fail.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { root } from "./fresh.mjs";
import { installNode } from "./node-from-npm.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { node: { type: "string", default: "20,22,24" }, npm: { type: "string", default: "10,11" } },
});
/** The commands in the order in which they are tried, with arguments that keep them small. */
const { commands } = JSON.parse(readFileSync(join(root, "scripts/node-matrix.json"), "utf8"));
const asked = Object.keys(commands).filter((name) => positionals.length === 0 || positionals.includes(name));
/** Milliseconds. */
const START_WITHIN = 300_000;
const folder = mkdtempSync(join(tmpdir(), "tapehouse-matrix-"));
let failures = 0;

try {
  for (const node of values.node.split(",")) {
    for (const npm of values.npm.split(",")) await runAll(node, npm);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(failures === 0 ? "every command works" : `${failures} failed`);
process.exit(failures === 0 ? 0 : 1);

async function runAll(node, npm) {
  const bin = installNode(join(folder, `node${node}-npm${npm}`), node, npm);
  const clone = join(folder, `clone-${node}-${npm}`);
  execFileSync("git", ["clone", "--quiet", root, clone]);
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, TAPEHOUSE_TOKEN: "matrix" };
  for (const name of Object.keys(env)) if (name.startsWith("npm_")) delete env[name];
  const options = { cwd: clone, env, encoding: "utf8", maxBuffer: 1 << 28 };
  const version = (command) => execFileSync(command, ["--version"], options).trim();
  const with_ = `Node ${version("node")}, npm ${version("npm")}`;
  for (const name of asked) {
    const began = performance.now();
    const output = name === "start" ? await start(options) : run(name, options);
    if (output !== null) failures++;
    const seconds = Math.round((performance.now() - began) / 1000);
    console.log(`${output === null ? "ok    " : "FAILED"} npm run ${name} (${with_}, ${seconds} s)`);
    if (output !== null) console.log(output);
  }
  rmSync(clone, { recursive: true, force: true });
}

/** Null, or the output of a command that fails or changes files of the clone. */
function run(name, options) {
  const { status, stdout, stderr } = spawnSync("npm", ["run", name, "--", ...commands[name]], options);
  if (status !== 0) return `exit code ${status}\n${stdout}${stderr}`;
  const changed = execFileSync("git", ["status", "--porcelain"], options);
  return changed === "" ? null : `it changed files:\n${changed}`;
}

/** Starts the server, asks for its health and stops it. Null, or its output if something fails. */
async function start(options) {
  const child = spawn("npm", ["start", "--", ...commands.start], { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (output += piece));
  const ended = new Promise((resolve) => child.once("close", resolve));
  let url;
  for (const end = performance.now() + START_WITHIN; !url && performance.now() < end; await sleep(250)) {
    if (child.exitCode !== null) return output;
    url = /listening on (\S+)/.exec(output)?.[1];
  }
  const health = url && (await fetch(`${url}/health`).then((answer) => answer.status));
  child.kill("SIGTERM");
  await ended;
  return health === 200 ? null : output;
}

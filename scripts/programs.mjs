// Builds programs in other languages that tests run, each once, into .readers. Those whose tools are not installed, or
// that take too long, are left out, and their tests are skipped.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));
const MINUTES = 15;

/**
 * Builds programs by name: `from` is the folder in which commands run, `identity` changes with the sources, `commandsFor`
 * gives the commands that download what the program needs, and those that build it into a folder. If a download fails,
 * its tests are skipped; if it does not build, that is a failure, which becomes the exit code.
 */
export function buildPrograms(programs) {
  for (const [name, { from, identity, commandsFor }] of Object.entries(programs)) {
    const to = join(root, ".readers", name);
    const stamp = join(to, "stamp");
    if (existsSync(stamp) && readFileSync(stamp, "utf8") === identity) continue;
    mkdirSync(to, { recursive: true });
    const { download, build, env = {} } = commandsFor(to);
    const options = { cwd: from, env: { ...process.env, ...env }, until: Date.now() + MINUTES * 60_000 };
    const unavailable = run(download, options);
    const problem = unavailable === null ? run(build, options) : { ...unavailable, isFailure: false };
    if (problem === null) writeFileSync(stamp, identity);
    else console.log(`${name}: ${problem.text}; its tests are skipped`);
    if (problem?.isFailure) process.exitCode = 1;
  }
}

/** Null if all commands succeeded. */
function run(commands, { cwd, env, until }) {
  for (const [command, ...args] of commands) {
    const timeout = Math.max(until - Date.now(), 1);
    const { status, error } = spawnSync(command, args, { cwd, env, timeout, stdio: ["ignore", "inherit", "inherit"] });
    if (error?.code === "ENOENT") return { text: `${command} is not installed`, isFailure: false };
    if (error?.code === "ETIMEDOUT") return { text: `not built in ${MINUTES} minutes`, isFailure: false };
    if (status !== 0) return { text: `${command} failed`, isFailure: true };
  }
  return null;
}

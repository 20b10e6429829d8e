// Builds the programs of test/readers that read responses in other languages, into .readers. Those whose tools are not
// installed, or that take too long, are left out, and their tests are skipped. Nothing is built twice.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const MINUTES = 15;

const COPY_LIBRARIES = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";

/**
 * For each folder of test/readers, the commands that download what it needs, and those that build it into `to`. Without
 * the packages its tests are skipped; if it does not build, that is a failure.
 */
const READERS = {
  rust: (to) => ({
    download: [["cargo", "fetch", "--quiet"]],
    build: [["cargo", "build", "--release", "--offline", "--quiet", "--target-dir", to]],
  }),
  go: (to) => ({
    download: [["go", "mod", "download"]],
    build: [["go", "build", "-o", join(to, "readers"), "."]],
  }),
  java: (to) => ({
    download: [["mvn", "--quiet", "--batch-mode", COPY_LIBRARIES, `-DoutputDirectory=${to}/lib`]],
    build: [["javac", "-cp", `${to}/lib/*`, "-d", `${to}/classes`, "Readers.java"]],
  }),
};

let failed = false;
for (const [name, commandsFor] of Object.entries(READERS)) {
  const to = join(root, ".readers", name);
  const from = join(root, "test/readers", name);
  const stamp = join(to, "stamp");
  const hash = hashOf(from);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) continue;
  mkdirSync(to, { recursive: true });
  const { download, build } = commandsFor(to);
  const until = Date.now() + MINUTES * 60_000;
  const unavailable = run(download, from, until);
  const problem = unavailable === null ? run(build, from, until) : { ...unavailable, isFailure: false };
  if (problem === null) writeFileSync(stamp, hash);
  else console.log(`${name}: ${problem.text}; its tests are skipped`);
  failed ||= problem?.isFailure ?? false;
}
process.exitCode = failed ? 1 : 0;

/** Null if all commands succeeded. */
function run(commands, cwd, until) {
  for (const [command, ...args] of commands) {
    const timeout = Math.max(until - Date.now(), 1);
    const { status, error } = spawnSync(command, args, { cwd, timeout, stdio: ["ignore", "inherit", "inherit"] });
    if (error?.code === "ENOENT") return { text: `${command} is not installed`, isFailure: false };
    if (error?.code === "ETIMEDOUT") return { text: `not built in ${MINUTES} minutes`, isFailure: false };
    if (status !== 0) return { text: `${command} failed`, isFailure: true };
  }
  return null;
}

/** What identifies the sources in a folder. */
function hashOf(folder) {
  const hash = createHash("sha256");
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.name !== "Cargo.lock",
  );
  for (const path of names.map((entry) => join(entry.parentPath, entry.name)).sort()) hash.update(readFileSync(path));
  return hash.digest("hex");
}

// Installs packages and builds, each only if needed. Plain Node: it runs before anything is installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "..");
const at = (path) => join(root, path);

/** The hash of the sources of `dist`. It is written last, so an interrupted build has none. */
const STAMP = "dist/.built";

/** Runs `npm ci` if a package of the lock file is missing or has another version. */
export function install() {
  if (isInstalled()) return;
  console.error("installing packages");
  run("npm", ["ci", "--include=dev", "--no-audit", "--no-fund"]);
}

/** Builds the kernel and `dist` if their sources have changed. */
export function build() {
  if (existsSync(at(STAMP)) && readFileSync(at(STAMP), "utf8") === hashOfInputs()) return;
  console.error("building");
  rmSync(at("dist"), { recursive: true, force: true });
  run(process.execPath, ["scripts/build-kernel.mjs"]);
  const inputs = hashOfInputs();
  run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"]);
  run(process.execPath, ["scripts/build-server.mjs"]);
  run(process.execPath, ["scripts/build-web.mjs"]);
  chmodSync(at("dist/main.js"), 0o755);
  writeFileSync(at(STAMP), inputs);
}

/** Compares the lock file with npm's own list of installed packages. Optional packages are those of other platforms. */
function isInstalled() {
  if (!existsSync(at("node_modules/.package-lock.json"))) return false;
  const packagesOf = (path) => JSON.parse(readFileSync(at(path), "utf8")).packages;
  const installed = packagesOf("node_modules/.package-lock.json");
  return Object.entries(packagesOf("package-lock.json")).every(
    ([path, { version, optional }]) =>
      path === "" || (installed[path] ? installed[path].version === version : optional),
  );
}

function hashOfInputs() {
  const sources = readdirSync(at("src"), { recursive: true }).map((path) => join("src", path));
  const settings = ["package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json"];
  const scripts = ["fresh", "build-kernel", "build-server", "build-web", "vendor"].map((name) => `scripts/${name}.mjs`);
  const files = [...sources, ...scripts, ...settings].sort();
  const contents = files
    .filter((path) => statSync(at(path)).isFile())
    .map((path) => [path, readFileSync(at(path), "utf8")]);
  return createHash("sha256").update(JSON.stringify(contents)).digest("hex");
}

/** Runs a command with its output on stderr; ends this process if it fails. */
function run(command, args) {
  const shell = command === "npm" && process.platform === "win32";
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2], shell });
  if (status === 0) return;
  console.error(`failed: ${command} ${args.join(" ")}${error ? ` (${error.message})` : ""}`);
  process.exit(1);
}

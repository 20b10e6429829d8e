// `npm run image`: builds the container image, runs it with its limits and checks a pull, its health and its end. Needs
// podman or docker.
//
//   --base IMAGE   the image with Node to build on, instead of that of the Dockerfile. `debian`: one that is made of
//                  Debian's packages and Node's npm package, which needs mmdebstrap, root and podman. It also stands in
//                  where the image of the Dockerfile cannot be pulled
//   --tag NAME     the name of the image; by default tapehouse
//   --remove       removes the image after the checks
//
// Exit code 3: this machine cannot build or run containers.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { root } from "./fresh.mjs";
import { installNode } from "./node-from-npm.mjs";

const { values } = parseArgs({
  options: { base: { type: "string" }, tag: { type: "string", default: "tapehouse" }, remove: { type: "boolean" } },
});
const DOCKERFILE = readFileSync(join(root, "Dockerfile"), "utf8");
const USUAL_BASE = /^ARG NODE_IMAGE=(\S+)$/m.exec(DOCKERFILE)[1];
const NODE = /^node:(\d+)/.exec(USUAL_BASE)[1];
const OWN_BASE = `tapehouse-base:node${NODE}`;
const TOKEN = "image-check";
/** Milliseconds. */
const START_WITHIN = 120_000;

const engine = ["docker", "podman"].find((name) => spawnSync(name, ["info"], { stdio: "ignore" }).status === 0);
if (!engine) unable("neither Docker nor Podman is available");

/** Podman asks for limits that a container or a service in which it runs may not set. */
const limits = engine === "podman" ? ["--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"] : [];
const quiet = { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], maxBuffer: 1 << 28 };
let options = [];
const run = (...args) => execFileSync(engine, [...options, ...args], quiet).trim();
const works = (...args) => spawnSync(engine, [...options, ...args], { stdio: "ignore" }).status === 0;
/** As docs/running.md does, without a network of its own. */
const CONFINED = [
  ...["--network", "host", "--read-only", "--tmpfs", "/tmp", "--memory", "2g", "--pids-limit", "200"],
  ...["--cap-drop", "ALL", "--security-opt", "no-new-privileges", ...limits],
];

const base = baseImage();
// crun, Podman's usual runtime, refuses control groups of both versions at once.
const runtimes = engine === "podman" ? [[], ["--runtime", "runc"]] : [[]];
const usable = runtimes.find((runtime) => {
  options = runtime;
  return works("run", "--rm", ...CONFINED, base, "node", "--version");
});
if (!usable) unable(`${engine} cannot run a container with resource limits`);
say(`building ${values.tag} with ${engine} on ${base}`);
build();
const failures = await check();
if (values.remove) works("rmi", "--force", values.tag);
say(failures === 0 ? "all checks passed" : `${failures} checks failed`);
process.exit(failures === 0 ? 0 : 1);

function say(text) {
  console.error(text);
}

function unable(why) {
  say(`skipped: ${why}`);
  process.exit(3);
}

/** The name of an image with Node that is here. */
function baseImage() {
  const wanted = values.base ?? USUAL_BASE;
  if (wanted !== "debian") {
    if (works("image", "inspect", wanted) || works("pull", "--quiet", wanted)) return wanted;
    if (values.base) unable(`the image ${wanted} cannot be pulled`);
    say(`the image ${wanted} cannot be pulled; building a base image from Debian packages instead`);
  }
  if (!works("image", "inspect", OWN_BASE)) makeBase();
  return OWN_BASE;
}

/** Debian, installed from this machine's APT sources, Node and npm from npm's registry, and the user `node`. */
function makeBase() {
  if (spawnSync("mmdebstrap", ["--version"]).status !== 0) unable("mmdebstrap is not installed");
  const folder = mkdtempSync(join(tmpdir(), "tapehouse-base-"));
  try {
    installNode(folder, NODE, "11");
    const [, suite] = /^VERSION_CODENAME=(\S+)/m.exec(readFileSync("/etc/os-release", "utf8")) ?? [];
    const hooks = [`copy-in ${join(folder, "local")} /usr`, 'chroot "$1" useradd --create-home --uid 1000 node'];
    const args = ["--variant=minbase", "--include=ca-certificates,libstdc++6,passwd", "--quiet"];
    const sources = spawnSync("sh", ["-c", "ls /etc/apt/sources.list.d/*.sources /etc/apt/sources.list"]).stdout;
    const made = spawnSync("mmdebstrap", [
      ...args,
      ...hooks.map((hook) => `--customize-hook=${hook}`),
      ...[suite, join(folder, "base.tar"), ...String(sources).trim().split("\n")],
    ]);
    if (made.status !== 0) unable(`Debian's packages cannot be installed: ${String(made.stderr).trim().slice(-300)}`);
    run("import", join(folder, "base.tar"), OWN_BASE);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Builds the image. A network with its own certificate authority names it in NODE_EXTRA_CA_CERTS: npm needs it. */
function build() {
  const folder = mkdtempSync(join(tmpdir(), "tapehouse-image-"));
  const authority = process.env.NODE_EXTRA_CA_CERTS;
  const settings = join(folder, "npmrc");
  writeFileSync(settings, authority ? "cafile=/authority.pem\n" : "");
  const mounts = [`${settings}:/usr/local/etc/npmrc:ro`, ...(authority ? [`${authority}:/authority.pem:ro`] : [])];
  // Podman builds with its usual runtime only, and keeps health checks only in Docker's format.
  const isolation = options.length > 0 ? ["--isolation", "chroot"] : [];
  const ofPodman = ["--format", "docker", ...isolation, ...mounts.flatMap((mount) => ["--volume", mount])];
  const args = ["build", "--network", "host", "--build-arg", `NODE_IMAGE=${base}`, "--tag", values.tag, ...limits];
  const all = [...args, ...(engine === "podman" ? ofPodman : []), root];
  const { status } = spawnSync(engine, all, { stdio: ["ignore", 2, 2] });
  rmSync(folder, { recursive: true, force: true });
  if (status === 0) return;
  say("FAILED: the image cannot be built");
  process.exit(1);
}

/** Runs the image as docs/running.md does, and resolves to the number of failed checks. */
async function check() {
  const name = `tapehouse-check-${process.pid}`;
  const volumes = ["data", "temp"].map((folder) => `${name}-${folder}`);
  let failed = 0;
  const expect = (what, holds) => {
    say(`${holds ? "ok" : "FAILED"}: ${what}`);
    if (!holds) failed++;
  };
  const inside = (...command) => run("exec", name, ...command);
  try {
    run(
      ...["run", "--detach", "--name", name, "--stop-timeout", "30", ...CONFINED],
      ...["--volume", `${volumes[0]}:/data`, "--volume", `${volumes[1]}:/temp`],
      ...["--env", "TAPEHOUSE_HOST=127.0.0.1", "--env", "TAPEHOUSE_PORT=0", "--env", `TAPEHOUSE_TOKEN=${TOKEN}`],
      values.tag,
    );
    const url = await listening(name);
    expect("it listens", url !== undefined);
    if (url === undefined) {
      say(logsOf(name));
      return failed;
    }
    expect("it runs as an unprivileged user", inside("id", "-u") === "1000");
    expect("its root is read-only", !works("exec", name, "sh", "-c", "echo > /app/new"));
    const status = inside("cat", "/proc/1/status");
    expect("it cannot gain privileges", /^NoNewPrivs:\s*1$/m.test(status) && /^CapEff:\s*0+$/m.test(status));
    const doctor = spawnSync(engine, [...options, "exec", name, "node", "dist/main.js", "doctor"], quiet).stdout;
    expect("the server sees its limit of memory", / of 2\.1 GB that this process may use/.test(doctor));

    inside("node", "dist/main.js", "demo", "--stocks", "200", "--days", "500");
    const { entities } = JSON.parse(inside("node", "dist/main.js", "status", "--json"));
    const rows = entities.find(({ entity }) => entity === "daily").rows;
    const lines = await countLines(`${url}/api/v1/entities/daily?format=ndjson`, rows);
    expect(`a pull has all ${rows} rows`, lines === rows);
    expect(
      "its health check passes",
      works("exec", "--env", `TAPEHOUSE_PORT=${new URL(url).port}`, name, "node", "deploy/health.mjs"),
    );

    const slow = linesOf(`${url}/api/v1/entities/daily?format=ndjson`, 3_000);
    await sleep(1_000);
    const began = performance.now();
    // This process reads meanwhile.
    const stopped = await new Promise((resolve) =>
      spawn(engine, [...options, "stop", name], { stdio: "ignore" }).once("close", resolve),
    );
    expect("it ends within its grace period", stopped === 0 && performance.now() - began < 28_000);
    expect("a download in progress completes", (await slow) === rows);
    expect("it ends with exit code 0", run("inspect", "--format", "{{.State.ExitCode}}", name) === "0");
  } finally {
    works("rm", "--force", name);
    works("volume", "rm", "--force", ...volumes);
  }
  return failed;
}

function logsOf(name) {
  const { stdout, stderr } = spawnSync(engine, [...options, "logs", name], { encoding: "utf8" });
  return `${stdout}${stderr}`;
}

async function listening(name) {
  for (const end = performance.now() + START_WITHIN; performance.now() < end; await sleep(250)) {
    const url = /listening on (\S+)/.exec(logsOf(name))?.[1];
    if (url) return url;
    if (run("inspect", "--format", "{{.State.Running}}", name) !== "true") return undefined;
  }
  return undefined;
}

/** Lines of a response; 0 if it is cut. Waits `pause` milliseconds after the first piece. */
function linesOf(url, pause = 0) {
  return new Promise((resolve) => {
    const request = get(url, { headers: { Authorization: `Bearer ${TOKEN}` } }, async (response) => {
      let lines = 0;
      try {
        for await (const piece of response) {
          for (const byte of piece) if (byte === 10) lines++;
          await sleep(lines > 0 ? pause : 0);
          pause = 0;
        }
        resolve(lines);
      } catch {
        resolve(0);
      }
    });
    request.on("error", () => resolve(0));
  });
}

/** The lines of a response as soon as it has as many as expected; the server notices new data within a second. */
async function countLines(url, expected) {
  let lines = 0;
  for (const end = performance.now() + START_WITHIN; performance.now() < end; await sleep(250)) {
    lines = await linesOf(url);
    if (lines === expected) break;
  }
  return lines;
}

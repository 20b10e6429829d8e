// tapehouse doctor. At first it loads nothing that a broken installation may lack.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { readConfig, type GivenSettings, type ServerConfig } from "../config.js";
import { OperatorError, reasonOf } from "../errors.js";
import { describeRefusal } from "../files.js";
import { layoutOf } from "../lake/layout.js";
import { plural } from "../words.js";
import { checkBucket } from "./doctor/bucket.js";
import { checkCluster } from "./doctor/cluster.js";
import { checkDirectory } from "./doctor/directory.js";
import { ok, shell, wrong, type Finding, warning } from "./doctor/finding.js";
import { checkCopies } from "./doctor/copies.js";
import { checkLake } from "./doctor/lake.js";
import { checkServing } from "./doctor/serving.js";
import { openGivenMirror } from "./mirror.js";
import { bucketGiven } from "./mirror-options.js";
import { addSettings, jsonOption } from "./options.js";
import { printJson, say } from "./out.js";
import { openWriter } from "../engine/loading.js";

type Options = GivenSettings & { readonly json?: boolean };

export function doctorCommand(): Command {
  const command = new Command("doctor").description(
    "Check the installation, the data directory and the settings of serve, and print how to fix problems.",
  );
  return addSettings(command, "doctor")
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse doctor --data ./parquet")
    .action(async ({ json, ...options }: Options) => {
      const findings = await examine(command, options, process.env, new Date());
      if (json) printJson(findings);
      else say(findings.flatMap(describe));
      const faults = findings.filter(({ state }) => state === "wrong").length;
      if (faults > 0) throw new OperatorError(`${plural(faults, "problem")} found`);
    });
}

/**
 * Checks everything. It changes nothing, but creates the folders `--temp` and `--copies-folder`, brings the mirror of a
 * bucket up to date and writes, for a moment, two files or objects.
 */
async function examine(
  command: Command,
  options: GivenSettings,
  env: NodeJS.ProcessEnv,
  now: Date,
): Promise<readonly Finding[]> {
  const findings = [...(await checkInstallation(process.versions.node))];
  const bucket = bucketGiven(command);
  const config = configOf(bucket === null ? options : { ...options, bucket }, env);
  if ("state" in config) return [...findings, config];
  findings.push(ok("settings", "understood"));
  const { found, data } = await openData(command, config);
  findings.push(...found);
  if (data !== null) findings.push(...(await checkData({ ...config, data }, now)));
  const isReadable = data !== null && findings.every(({ state }) => state !== "wrong");
  findings.push(...(await checkCluster(config, isReadable ? data : null, now)));
  return [...findings, ...(await checkServing(config, env, now))];
}

/** The data directory; null if it is the mirror of a bucket and cannot be opened, for which there is a finding. */
async function openData(
  command: Command,
  { data, bucket, watch }: ServerConfig,
): Promise<{ readonly found: readonly Finding[]; readonly data: string | null }> {
  if (bucket === null) return { found: [], data };
  const found = await checkBucket(bucket, watch);
  if (found[0]!.state === "wrong") return { found, data: null };
  try {
    return { found, data: await openGivenMirror(command, bucket) };
  } catch (error) {
    const problem = {
      found: describeRefusal(error) ?? reasonOf(error),
      expected: "a folder that is the mirror of this bucket or empty, and a readable lake in the bucket",
      way: shell("tapehouse", "doctor", "--data", bucket, "--mirror", "./mirror"),
    };
    return { found: [...found, wrong("mirror", problem)], data: null };
  }
}

async function checkData(config: ServerConfig, now: Date): Promise<readonly Finding[]> {
  const layout = layoutOf(config.data);
  const given = config.bucket ?? config.data;
  const directory = await checkDirectory(layout, given);
  if (directory.some(({ state }) => state === "wrong")) return directory;
  const lake = await checkLake(layout, given, config.staticToken !== null, now);
  return [...directory, ...lake, await checkCopies(config)];
}

function configOf(options: GivenSettings, env: NodeJS.ProcessEnv): ServerConfig | Finding {
  try {
    return readConfig(options, env);
  } catch (error) {
    const way = shell("tapehouse", "serve", "--help");
    return wrong("settings", {
      found: reasonOf(error),
      expected: "valid options of serve and TAPEHOUSE_ variables",
      way,
    });
  }
}

function describe({ state, thing, found, expected, way }: Finding): readonly string[] {
  const lines = [`${state.padEnd(8)} ${thing.padEnd(15)} ${found}`];
  if (expected !== null) lines.push(`${" ".repeat(9)}expected: ${expected}`);
  if (way !== null) lines.push(`${" ".repeat(9)}fix:      ${way}`);
  return lines;
}

// The installation. Nothing is loaded before it is checked, so that broken parts can be reported.

/** `version` is the version of Node, e.g. `20.19.2`. */
export async function checkInstallation(version: string): Promise<readonly Finding[]> {
  return [checkNode(version), await checkDuckDB(), await checkEncoder()];
}

function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  // As in package.json.
  const isSupported = (major === 20 && minor >= 19) || (major === 22 && minor >= 2) || major > 22;
  if (isSupported) return ok("Node", version);
  const expected = "20.19, or 22.2 or later";
  return wrong("Node", { found: version, expected, way: "nvm install 24" });
}

async function checkDuckDB(): Promise<Finding> {
  let folder: string;
  try {
    folder = await mkdtemp(join(tmpdir(), "tapehouse-doctor-"));
  } catch (error) {
    return wrong("temporary files", {
      found: `cannot be written to ${tmpdir()}: ${reasonOf(error)}`,
      expected: "a folder that can be written",
      way: "TMPDIR=/var/tmp tapehouse doctor",
    });
  }
  try {
    const writer = await openWriter({ memory: "256MB", tempDirectory: folder });
    try {
      const [row] = await writer.rows("SELECT version() AS version, sum(i) AS sum FROM range(1000) t(i)");
      return ok("DuckDB", `${String(row!["version"])} loads and works`);
    } finally {
      writer.close();
    }
  } catch (error) {
    return wrong("DuckDB", {
      found: `does not work: ${reasonOf(error)}`,
      expected: `the native module for ${process.platform} ${process.arch}, in node_modules`,
      way: "npm ci",
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function checkEncoder(): Promise<Finding> {
  const thing = "row kernel";
  const expected = "a WebAssembly kernel with the same output as the plain row writer";
  try {
    const { checkKernel } = await import("../encode/rows.js");
    const found = checkKernel();
    if (found === "equal") return ok(thing, "WebAssembly, equal to the plain row writer");
    if (found === "absent") {
      const way = "node --version; ulimit -v # without WebAssembly, rows are written more slowly";
      return warning(thing, {
        found: "WebAssembly with SIMD is not available, or ulimit -v leaves no room for it",
        expected,
        way,
      });
    }
    return wrong(thing, { found: "its output is different", expected, way: "npm ci && npm run build" });
  } catch (error) {
    return wrong(thing, { found: `cannot be loaded: ${reasonOf(error)}`, expected, way: "npm ci && npm run build" });
  }
}

// Checks that the installation is complete. Nothing is loaded before it is checked, so that broken parts can be
// reported.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reasonOf } from "../../errors.js";
import { ok, warning, wrong, type Finding } from "./finding.js";

const LEAST_NODE = [20, 19] as const;

/** `version` is the version of Node, e.g. `20.19.2`. */
export async function checkInstallation(version: string): Promise<readonly Finding[]> {
  return [checkNode(version), await checkDuckDB(), await checkEncoder()];
}

function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isEnough = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1]);
  if (isEnough) return ok("Node", version);
  const expected = `${LEAST_NODE.join(".")} or later`;
  return wrong("Node", { found: version, expected, way: "nvm install 22" });
}

async function checkDuckDB(): Promise<Finding> {
  const folder = await mkdtemp(join(tmpdir(), "tapehouse-doctor-"));
  try {
    const { openWriter } = await import("../../engine/writer.js");
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
    const { checkKernel } = await import("../../encode/rows.js");
    const found = checkKernel();
    if (found === "equal") return ok(thing, "WebAssembly, equal to the plain row writer");
    if (found === "absent") {
      const way = "node --version # needs WebAssembly with SIMD, or rows are written more slowly";
      return warning(thing, { found: "WebAssembly with SIMD is not available", expected, way });
    }
    return wrong(thing, { found: "its output is different", expected, way: "npm ci && npm run build" });
  } catch (error) {
    return wrong(thing, { found: `cannot be loaded: ${reasonOf(error)}`, expected, way: "npm ci && npm run build" });
  }
}

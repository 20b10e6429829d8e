// tapehouse doctor. At first it loads nothing that a broken installation may lack.
import { Command } from "commander";
import { readConfig, type ServerConfig } from "../config.js";
import type { SettingName } from "../settings.js";
import { OperatorError, reasonOf } from "../errors.js";
import { layoutOf } from "../lake/layout.js";
import { plural } from "../words.js";
import { checkDirectory } from "./doctor/directory.js";
import { ok, shell, wrong, type Finding } from "./doctor/finding.js";
import { checkInstallation } from "./doctor/installation.js";
import { checkLake } from "./doctor/lake.js";
import { checkServing } from "./doctor/serving.js";
import { addSettings, jsonOption } from "./options.js";
import { printJson, say } from "./out.js";

type Options = Partial<Record<SettingName, string>> & { readonly json?: boolean };

export function doctorCommand(): Command {
  const command = new Command("doctor").description(
    "Check the installation, the data directory and the settings of serve, and print how to fix problems.",
  );
  return addSettings(command, "doctor")
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse doctor --data ./parquet")
    .action(async ({ json, ...options }: Options) => {
      const findings = await examine(options, process.env, new Date());
      if (json) printJson(findings);
      else say(findings.flatMap(describe));
      const faults = findings.filter(({ state }) => state === "wrong").length;
      if (faults > 0) throw new OperatorError(`${plural(faults, "problem")} found`);
    });
}

/** Checks everything. It changes nothing, but creates the folder `--temp`. */
async function examine(options: Omit<Options, "json">, env: NodeJS.ProcessEnv, now: Date): Promise<readonly Finding[]> {
  const findings = [...(await checkInstallation(process.versions.node))];
  const config = configOf(options, env);
  if ("state" in config) return [...findings, config];
  const layout = layoutOf(config.data);
  const directory = await checkDirectory(layout);
  findings.push(ok("settings", "understood"), ...directory);
  if (!directory.some(({ state }) => state === "wrong")) {
    findings.push(...(await checkLake(layout, config.staticToken !== null, now)));
  }
  return [...findings, ...(await checkServing(config, env, now))];
}

function configOf(options: Omit<Options, "json">, env: NodeJS.ProcessEnv): ServerConfig | Finding {
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

// tapehouse serve: workers that answer requests, kept running by a supervisor.
import { Command } from "commander";
import { environmentNotes, readConfig, type ServerConfig } from "../config.js";
import { flagOf, settingsOf, type SettingName } from "../settings.js";
import { openLog } from "../http/observe.js";
import { exposureOf } from "../http/port.js";
import { makeInbox } from "../inbox/data-directory.js";
import { layoutOf } from "../lake/layout.js";
import { openLake } from "../lake/lake.js";
import { bindingOf } from "../lake/mirror/binding.js";
import { hasRole } from "../processes/messages.js";
import { supervise } from "../processes/supervisor.js";
import { addSettings } from "./options.js";
import { note, say } from "./out.js";

interface ServeOptions extends Partial<Record<Exclude<SettingName, "watch">, string>> {
  readonly demo?: boolean;
  /** False for --no-watch. */
  readonly watch?: string | false;
}

export function serveCommand(): Command {
  return addSettings(new Command("serve").description("Serve the lake over HTTP."), "serve")
    .option("--no-watch", "the same as --watch off, for replicas and read-only disks")
    .option("--demo", "generate the demo market first if the lake is empty, and print a working request")
    .addHelpText("after", "\nExample:\n  $ tapehouse serve --data ./parquet --port 8080")
    .action(async (options: ServeOptions) => {
      if (hasRole("worker")) (await import("../processes/worker.js")).runWorker();
      else await serve(options);
    });
}

async function configOf({ watch, ...options }: ServeOptions): Promise<ServerConfig> {
  const given = { ...options, ...(watch === undefined ? {} : { watch: watch || "off" }) };
  const config = readConfig(given, process.env);
  const bucket = (await bindingOf(layoutOf(config.data)))?.address;
  return bucket === undefined ? config : readConfig({ ...given, bucket }, process.env);
}

async function serve(options: ServeOptions): Promise<void> {
  const config = await configOf(options);
  if (options.demo && (await isEmpty(config.data))) {
    const { makeDemo } = await import("./demo.js");
    await makeDemo(config.data, { stocks: 300, days: 750, seed: 1, memory: "4GB" });
  }
  if (config.watch) await prepareInbox(config.data);
  const log = openLog(config.logLevel, note);
  const exposure = exposureOf(config);
  if (exposure) log.warn(exposure);
  await supervise(config, {
    log,
    companions: {
      ...(config.watch ? { inbox: argumentsOf("ingest", { ...options, ingestMemory: config.ingestMemory }) } : {}),
      ...(config.bucket === null ? {} : { bucket: argumentsOf("follow", options) }),
    },
    async onListening(url) {
      for (const text of environmentNotes(process.env)) log.info(text);
      say(`listening on ${url}`);
      if (options.demo) say(["", ...(await firstRequest(config.data, url))]);
    },
  });
}

/** Creates the folders of a new lake before it serves. In all other cases, the process that watches the inbox does. */
async function prepareInbox(data: string): Promise<void> {
  if (await isEmpty(data).catch(() => false)) await makeInbox(layoutOf(data)).catch(() => undefined);
}

const isEmpty = async (data: string): Promise<boolean> => (await openLake(data)).current().version.sequence === 0;

/** The options shared with another command; it inherits the environment. */
function argumentsOf(command: "ingest" | "follow", { watch: _, ...options }: ServeOptions): string[] {
  const given: Partial<Record<SettingName, string>> = options;
  return settingsOf(command).flatMap((name) => {
    const value = given[name];
    return value === undefined ? [] : [flagOf(name), value];
  });
}

/** A curl command to paste, with a token of its own. Those of the last 20 starts stay valid for 30 days. */
async function firstRequest(data: string, url: string): Promise<readonly string[]> {
  const { createSeriesToken } = await import("../store/tokens.js");
  const token = await createSeriesToken(data, "first-steps", { entities: null, expires: "30d" }, new Date());
  return [
    "Try it:",
    `  curl -H "Authorization: Bearer ${token}" "${url}/api/v1/entities/daily?ts_code=600519.SH&limit=5"`,
  ];
}

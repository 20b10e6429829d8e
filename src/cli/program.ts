// The command line: all commands.
import { Command } from "commander";
import { PACKAGE_VERSION } from "../config.js";
import { addMirrorOptions, bucketGiven } from "./mirror-options.js";
import { hasRole } from "../processes/messages.js";
import { runProgram } from "./run.js";

/** A command is loaded when it is called: few of them need DuckDB, and only `serve` needs Express. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import("./serve.js")).serveCommand(),
  status: async () => (await import("./status.js")).statusCommand(),
  ingest: async () => (await import("./ingest.js")).ingestCommand(),
  follow: async () => (await import("./follow.js")).followCommand(),
  import: async () => (await import("./import.js")).importCommand(),
  delete: async () => (await import("./delete.js")).deleteCommand(),
  revert: async () => (await import("./revert.js")).revertCommand(),
  demo: async () => (await import("./demo.js")).demoCommand(),
  token: async () => (await import("./token.js")).tokenCommand(),
  gaps: async () => (await import("./gaps.js")).gapsCommand(),
  versions: async () => (await import("./status.js")).versionsCommand(),
  diff: async () => (await import("./diff.js")).diffCommand(),
  statistics: async () => (await import("./statistics.js")).statisticsCommand(),
  sql: async () => (await import("./sql.js")).sqlCommand(),
  delta: async () => (await import("./delta.js")).deltaCommand(),
  copies: async () => (await import("./copies.js")).copiesCommand(),
  compact: async () => (await import("./maintenance.js")).compactCommand(),
  vacuum: async () => (await import("./maintenance.js")).vacuumCommand(),
  verify: async () => (await import("./verify.js")).verifyCommand(),
  backup: async () => (await import("./backup.js")).backupCommand(),
  restore: async () => (await import("./backup.js")).restoreCommand(),
  check: async () => (await import("./check.js")).checkCommand(),
  doctor: async () => (await import("./doctor.js")).doctorCommand(),
  openapi: async () => (await import("./describe.js")).openApiCommand(),
  completion: async () => (await import("./describe.js")).completionCommand(createProgram),
};

/** The program with the named command only, or with all commands if there is none of that name. */
export async function createProgram(name = ""): Promise<Command> {
  const program = new Command("tapehouse")
    .description("Serves exchange-traded market data from Parquet files over HTTP, read-only.")
    .version(PACKAGE_VERSION)
    .showHelpAfterError("(add --help for the options of this command)")
    .addHelpText("after", "\nExample:\n  $ tapehouse demo && tapehouse serve");
  const one = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const commands = await Promise.all((one ? [one] : Object.values(COMMANDS)).map((load) => load()));
  for (const command of commands) program.addCommand(command);
  for (const command of commands.flatMap((one) => [one, ...one.commands])) addMirrorOptions(command);
  program.hook("preAction", async (_, command) => {
    // What prevents the doctor from opening the mirror is one of its findings.
    const bucket = hasRole("worker") || command.name() === "doctor" ? null : bucketGiven(command);
    if (bucket === null) return;
    const { openGivenMirror } = await import("./mirror.js");
    command.setOptionValue("data", await openGivenMirror(command, bucket));
  });
  return program;
}

/** Runs one command and resolves to its exit code. */
export const run = (args: readonly string[]): Promise<number> => runProgram(() => createProgram(args[0]), args);

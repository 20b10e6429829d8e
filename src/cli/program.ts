// The command line: one small file a command. Exit code 0: done; 1: failed; 2: called wrongly.
import { Command, CommanderError } from "commander";
import { CommandError } from "../errors.js";
import { packageVersion } from "../http/package.js";
import { compactCommand } from "./compact.js";
import { completionCommand } from "./completion.js";
import { demoCommand } from "./demo.js";
import { gapsCommand } from "./gaps.js";
import { importCommand } from "./import.js";
import { ingestCommand } from "./ingest.js";
import { openApiCommand } from "./openapi.js";
import { serveCommand } from "./serve.js";
import { statusCommand } from "./status.js";
import { tokenCommand } from "./token.js";
import { vacuumCommand } from "./vacuum.js";
import { verifyCommand } from "./verify.js";
import { versionsCommand } from "./versions.js";

export function createProgram(): Command {
  const program = new Command("tapehouse")
    .description("Serves exchange-traded market data over HTTP, from Parquet, read-only.")
    .version(packageVersion())
    .showHelpAfterError("(add --help for what this command takes)")
    .addHelpText("after", "\nExample:\n  $ tapehouse demo && tapehouse serve");
  const commands = [
    serveCommand,
    statusCommand,
    ingestCommand,
    importCommand,
    demoCommand,
    tokenCommand,
    gapsCommand,
    versionsCommand,
    compactCommand,
    vacuumCommand,
    verifyCommand,
    openApiCommand,
    () => completionCommand(createProgram),
  ];
  for (const command of commands) program.addCommand(command());
  return program;
}

/** Runs one command and resolves to its exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const program = createProgram();
  for (const command of [program, ...program.commands.flatMap((c) => [c, ...c.commands])]) command.exitOverride();
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const message = error instanceof Error ? error.message.split("\n")[0]! : String(error);
    if (error instanceof CommandError) return tell(message, error.exitCode);
    if (process.env["TAPEHOUSE_DEBUG"]) process.stderr.write(`${(error as Error).stack ?? ""}\n`);
    return tell(`failed unexpectedly: ${message}`, 1);
  }
}

function tell(message: string, exitCode: number): number {
  process.stderr.write(`tapehouse: ${message}\n`);
  return exitCode;
}

// The command line: one file per command.
import { Command } from "commander";
import { packageVersion } from "../http/package.js";
import { compactCommand } from "./compact.js";
import { completionCommand } from "./completion.js";
import { demoCommand } from "./demo.js";
import { doctorCommand } from "./doctor.js";
import { gapsCommand } from "./gaps.js";
import { importCommand } from "./import.js";
import { ingestCommand } from "./ingest.js";
import { openApiCommand } from "./openapi.js";
import { runProgram } from "./run.js";
import { serveCommand } from "./serve.js";
import { statusCommand } from "./status.js";
import { tokenCommand } from "./token.js";
import { vacuumCommand } from "./vacuum.js";
import { verifyCommand } from "./verify.js";
import { versionsCommand } from "./versions.js";

export function createProgram(): Command {
  const program = new Command("tapehouse")
    .description("Serves exchange-traded market data from Parquet files over HTTP, read-only.")
    .version(packageVersion())
    .showHelpAfterError("(add --help for the options of this command)")
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
    doctorCommand,
    openApiCommand,
    () => completionCommand(createProgram),
  ];
  for (const command of commands) program.addCommand(command());
  return program;
}

/** Runs one command and resolves to its exit code. */
export const run = (args: readonly string[]): Promise<number> => runProgram(createProgram(), args);

// Runs a command. Exit codes: 0 success; 1 failure; 2 incorrect call.
import { CommanderError, type Command } from "commander";
import { OperatorError, reasonOf } from "../errors.js";
import { describeRefusal } from "../files.js";
import { printable } from "../words.js";
import { note } from "./out.js";

/** Runs one command of a program and resolves to its exit code. */
export async function runProgram(program: Command, args: readonly string[]): Promise<number> {
  for (const command of [program, ...program.commands.flatMap((c) => [c, ...c.commands])]) {
    command.exitOverride().configureOutput({ outputError: (text, write) => write(printableLines(text)) });
  }
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof OperatorError) return reportFailure(error.message, error.exitCode);
    const refusal = describeRefusal(error);
    if (refusal !== undefined) return reportFailure(refusal, 1);
    if (process.env["TAPEHOUSE_DEBUG"]) note(((error as Error).stack ?? "").split("\n"));
    return reportFailure(`failed unexpectedly: ${reasonOf(error)}`, 1);
  }
}

/** Prints why a command failed. */
export function reportFailure(message: string, exitCode: number): number {
  note(`tapehouse: ${message}`);
  return exitCode;
}

const printableLines = (text: string): string => text.split("\n").map(printable).join("\n");

// Running a command: exit code 0: done; 1: failed; 2: called wrongly.
import { CommanderError, type Command } from "commander";
import { CommandError } from "../errors.js";

/** Runs one command of a program and resolves to its exit code. */
export async function runProgram(program: Command, args: readonly string[]): Promise<number> {
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

/** Says why a command failed. */
export function tell(message: string, exitCode: number): number {
  process.stderr.write(`tapehouse: ${message}\n`);
  return exitCode;
}

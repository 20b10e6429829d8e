// Runs a command. Exit codes: 0 success; 1 failure; 2 incorrect call.
import { CommanderError, type Command } from "commander";
import { OperatorError, reasonOf } from "../errors.js";
import { loaded } from "../engine/loading.js";
import { describeRefusal } from "../files.js";
import { hasRole, send } from "../processes/messages.js";
import { printable } from "../words.js";
import { note } from "./out.js";

/** Loads a program, runs one of its commands and resolves to its exit code. */
export async function runProgram(load: () => Promise<Command>, args: readonly string[]): Promise<number> {
  try {
    const program = await loaded(load);
    for (const command of [program, ...program.commands.flatMap((c) => [c, ...c.commands])]) {
      command.exitOverride().configureOutput({ outputError: (text, write) => write(printableLines(text)) });
    }
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof OperatorError) return await reportFailure(error.message, error.exitCode);
    if (NOT_LOADED.has((error as NodeJS.ErrnoException).code ?? "")) {
      return await reportFailure(`this installation is broken: ${reasonOf(error)} (see: tapehouse doctor)`, 1);
    }
    const refusal = describeRefusal(error) ?? describeLack(error);
    if (refusal !== undefined) return await reportFailure(refusal, 1);
    if (process.env["TAPEHOUSE_DEBUG"]) note(((error as Error).stack ?? "").split("\n"));
    return await reportFailure(`failed unexpectedly: ${reasonOf(error)}`, 1);
  }
}

/** Codes of errors that occur when a module is missing, or is native and built for another platform. */
const NOT_LOADED: ReadonlySet<string> = new Set(["MODULE_NOT_FOUND", "ERR_MODULE_NOT_FOUND", "ERR_DLOPEN_FAILED"]);

/** What the machine lacks, and what helps, by system error code. */
const LACKS: Readonly<Record<string, string>> = {
  EMFILE: "too many open files; raise the limit with ulimit -n",
  ENFILE: "too many open files on this machine",
  EAGAIN: "too many processes or threads; raise the limit with ulimit -u, or that of the container",
  ENOMEM: "not enough memory; raise the limit of the container or of ulimit -v",
  ENOSPC: "no space left on disk",
  EDQUOT: "disk quota exceeded",
  EROFS: "the disk is read-only",
};

function describeLack(error: unknown): string | undefined {
  const { code, path, syscall = "" } = error as NodeJS.ErrnoException;
  const lack = LACKS[code ?? ""];
  const where = path === undefined ? "" : ` (${syscall} ${path})`;
  return lack === undefined ? undefined : `${lack}${where}`;
}

/** Says why a command failed: processes of a server tell their supervisor, which prints it once for all of them. */
async function reportFailure(message: string, exitCode: 1 | 2): Promise<number> {
  const reports = hasRole("worker") || hasRole("follow");
  if (reports && process.connected) await send({ report: "failed", message, known: true, exitCode });
  else note(`tapehouse: ${message}`);
  return exitCode;
}

const printableLines = (text: string): string => text.split("\n").map(printable).join("\n");

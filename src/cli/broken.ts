// The command line of a broken installation: only the doctor works.
import { Command } from "commander";
import { reasonOf } from "../errors.js";
import { doctorCommand } from "./doctor.js";
import { runProgram, reportFailure } from "./run.js";

/** `reason` is the error that occurred when the commands were loaded. */
export async function runBroken(args: readonly string[], reason: unknown): Promise<number> {
  if (args[0] === "doctor") return runProgram(new Command("tapehouse").addCommand(doctorCommand()), args);
  return reportFailure(`this installation is broken: ${reasonOf(reason)} (see: tapehouse doctor)`, 1);
}

// The command line of an installation in which something cannot be loaded: only the doctor works.
import { Command } from "commander";
import { reasonOf } from "../errors.js";
import { doctorCommand } from "./doctor.js";
import { runProgram, tell } from "./run.js";

/** `reason` is what the system said when the commands were loaded. */
export async function runBroken(args: readonly string[], reason: unknown): Promise<number> {
  if (args[0] === "doctor") return runProgram(new Command("tapehouse").addCommand(doctorCommand()), args);
  return tell(`this installation is broken: ${reasonOf(reason)} (see: tapehouse doctor)`, 1);
}

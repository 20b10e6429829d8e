// Processes to which the system says that there are no links, as exFAT, SMB and some file systems in user space do.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { temporaryFolder } from "./folders.js";

const SOURCE = join(import.meta.dirname, "no-links.c");

/** Whether this machine can do that: it has a C compiler and preloads libraries. */
export const canHideLinks = process.platform === "linux" && spawnSync("gcc", ["--version"]).status === 0;

/** The environment of such processes, by the error number that a link fails with, and variables to add. */
export async function withoutLinks(): Promise<(errno: number, others?: NodeJS.ProcessEnv) => NodeJS.ProcessEnv> {
  const library = join(await temporaryFolder(), "no-links.so");
  const { status, stderr } = spawnSync("gcc", ["-shared", "-fPIC", "-O1", "-o", library, SOURCE], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return (errno, others) => ({ ...process.env, ...others, LD_PRELOAD: library, NO_LINKS: String(errno) });
}

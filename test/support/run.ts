// A command run to its end, with all that it printed.
import { spawn, type SpawnOptions } from "node:child_process";

export interface Ended {
  /** What it wrote to both of its outputs, as it came. */
  readonly output: string;
  readonly exitCode: number | null;
}

/** Runs a command that gets nothing to read. Rejects where it cannot be started. */
export async function run(
  command: string,
  args: readonly string[],
  options: Pick<SpawnOptions, "cwd" | "env">,
): Promise<Ended> {
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { output, exitCode };
}

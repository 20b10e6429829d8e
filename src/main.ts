#!/usr/bin/env node
// The command `tapehouse`.

const args = process.argv.slice(2);

// Who reads through a pipe may stop before the end, as `head` does. The work goes on.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

// Node would open its debugger to whoever is on this machine, on a port that every other process of ours wants too.
process.on("SIGUSR1", () => undefined);

// Native parts may be missing, or made for another machine. Node tells that twice, once to nobody.
const ignore = (): void => undefined;
process.on("unhandledRejection", ignore);

const run = await import("./cli/program.js").then(
  (program) => {
    process.off("unhandledRejection", ignore);
    return program.run;
  },
  async (error: unknown) => {
    const { runBroken } = await import("./cli/broken.js");
    return (given: readonly string[]) => runBroken(given, error);
  },
);

process.exitCode = await run(args);

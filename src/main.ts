#!/usr/bin/env node
// The command `tapehouse`.

const args = process.argv.slice(2);

// A reader of our output may stop before its end, as `head` does. The work continues.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

// Node would open its debugger to everyone on this machine, on a port that all our processes share.
process.on("SIGUSR1", () => undefined);

// Native modules may be missing or built for another platform. Node reports that twice; one of the errors has no
// handler.
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

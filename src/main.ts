#!/usr/bin/env node
// The command `tapehouse`.

/** Exits with a message if the program cannot be loaded because too few files may be open. */
const { run } = await import("./cli/program.js").catch((error: unknown) => {
  const { code, path } = error as NodeJS.ErrnoException;
  if (code !== "EMFILE") throw error;
  // eslint-disable-next-line no-restricted-syntax -- the module that prints is not loaded
  process.stderr.write(`tapehouse: too many open files; raise the limit with ulimit -n (open ${path})\n`);
  process.exit(1);
});

// A reader of our output may stop before its end, as `head` does. The work continues.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

// Node would open its debugger to everyone on this machine, on a port that all our processes share.
process.on("SIGUSR1", () => undefined);

process.exitCode = await run(process.argv.slice(2));

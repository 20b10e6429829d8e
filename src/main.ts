#!/usr/bin/env node
// The command `tapehouse`.
import { run } from "./cli/program.js";

// A reader of our output may stop before its end, as `head` does. The work continues.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

// Node would open its debugger to everyone on this machine, on a port that all our processes share.
process.on("SIGUSR1", () => undefined);

process.exitCode = await run(process.argv.slice(2));

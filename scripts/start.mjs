// `npm start`: from a fresh clone to a server with data. Arguments are passed to `tapehouse serve`.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { build, install, root } from "./fresh.mjs";

install();
build();

const main = join(root, "dist", "main.js");
const server = spawn(process.execPath, [main, "serve", "--demo", ...process.argv.slice(2)], { stdio: "inherit" });

// Ctrl-C in a terminal reaches the server directly; other signals must be forwarded.
process.on("SIGINT", () => process.stdin.isTTY || server.kill("SIGINT"));
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => server.kill(signal));

// If npm is killed, it ends the shell between npm and this process, which gets no signal.
if (process.env.npm_lifecycle_event) {
  const shell = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watch);
    server.kill("SIGTERM");
  }, 250);
}

server.on("exit", (code, signal) => {
  if (!signal) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});

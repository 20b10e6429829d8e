#!/usr/bin/env node
// The command `tapehouse`.
import { run } from "./cli/program.js";

process.exitCode = await run(process.argv.slice(2));

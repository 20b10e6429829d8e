// `npm test`: from a fresh clone to the result of all tests. Arguments go on to vitest.
import { spawnSync } from "node:child_process";
import { build, install, root } from "./fresh.mjs";

install();
build();

const vitest = ["node_modules/vitest/vitest.mjs", "run", ...process.argv.slice(2)];
process.exit(spawnSync(process.execPath, vitest, { cwd: root, stdio: "inherit" }).status ?? 1);

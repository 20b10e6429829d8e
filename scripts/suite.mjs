// `npm run test:load` and the like: a suite of `npm test` in its full size. `--clients 50` sets TAPEHOUSE_CLIENTS, and so on.
import { spawnSync } from "node:child_process";
import { build, install, root } from "./fresh.mjs";

/** Of each suite: the file, and what its full size is. The environment and options win. */
const SUITES = {
  load: ["load", { CLIENTS: 200, SECONDS: 300 }],
  soak: ["load", { CLIENTS: 50, SECONDS: 7200, SOAK: 1 }],
  faults: ["faults", { HUNG_UP: 10_000, STALLED: 500 }],
  fuzz: ["fuzz", { REQUESTS: 1_000_000, RAW: 20_000, IMPORTS: 100_000 }],
  wholeness: ["wholeness", { WHOLENESS: "all" }],
};

const [name, ...args] = process.argv.slice(2);
const [file, sizes] = SUITES[name];
for (const [size, value] of Object.entries(sizes)) {
  const at = args.indexOf(`--${size.toLowerCase().replace("_", "-")}`);
  const given = at < 0 ? undefined : args.splice(at, 2)[1];
  process.env[`TAPEHOUSE_${size}`] = given ?? process.env[`TAPEHOUSE_${size}`] ?? String(value);
}

install();
build();
const vitest = ["node_modules/vitest/vitest.mjs", "run", `test/suites/${file}`, "--disable-console-intercept"];
process.exit(spawnSync(process.execPath, [...vitest, ...args], { cwd: root, stdio: "inherit" }).status ?? 1);

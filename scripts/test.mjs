// `npm test`: from a fresh clone to the result of the tests. `--long` runs all of them. Other arguments are passed to
// vitest.
import { spawnSync } from "node:child_process";
import { build, install, root } from "./fresh.mjs";

const given = process.argv.slice(2);
const args = given.filter((arg) => arg !== "--long");
const isLong = args.length < given.length;

install();
build();

if (args.every((arg) => arg.startsWith("-"))) {
  console.error(
    isLong
      ? "running every test: takes about 14 minutes on two idle cores"
      : "running the tests: takes about 10 minutes on two idle cores; `npm run test:long` adds the long ones",
  );
}
if (isLong) process.env.TAPEHOUSE_LONG = "1";
// The built program starts in half the time of the sources.
process.env.TAPEHOUSE_BUILT = "1";
const vitest = ["node_modules/vitest/vitest.mjs", "run", ...args];
process.exit(spawnSync(process.execPath, vitest, { cwd: root, stdio: "inherit" }).status ?? 1);

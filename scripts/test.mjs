// `npm test`: from a fresh clone to the result of the tests. `--long` runs all of them. Other arguments are passed to
// vitest.
import { spawnSync } from "node:child_process";
import { statfsSync } from "node:fs";
import { build, install, root } from "./fresh.mjs";

const given = process.argv.slice(2);
const args = given.filter((arg) => arg !== "--long");
const isLong = args.length < given.length;

install();
build();

if (args.every((arg) => arg.startsWith("-"))) {
  if (!isLong) args.push("--exclude", "test/suites/**");
  console.error(
    isLong
      ? "running every test: takes about 17 minutes on two cores"
      : "running most tests: takes about 6 minutes on two cores; `npm run test:long` adds the long ones",
  );
}
if (isLong) process.env.TAPEHOUSE_LONG = "1";
// In memory, the many files that are flushed to the disk cost little.
else if (!process.env.TMPDIR && freeBytes("/dev/shm") > 8e9) process.env.TMPDIR = "/dev/shm";
// The built program starts in half the time of the sources.
process.env.TAPEHOUSE_BUILT = "1";
const vitest = ["node_modules/vitest/vitest.mjs", "run", ...args];
process.exit(spawnSync(process.execPath, vitest, { cwd: root, stdio: "inherit" }).status ?? 1);

function freeBytes(folder) {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

// `npm run test:load` and similar: runs one test suite in its full size. `--clients 50` sets TAPEHOUSE_CLIENTS, and so
// on.

/** The file of each suite and its full size. The environment and options take precedence. */
const SUITES = {
  load: ["test/suites/load", { CLIENTS: 200, SECONDS: 300 }],
  soak: ["test/suites/load", { CLIENTS: 50, SECONDS: 7200, SOAK: 1 }],
  faults: ["test/suites/faults", { HUNG_UP: 10_000, STALLED: 500 }],
  fuzz: ["test/suites/fuzz", { REQUESTS: 1_000_000, RAW: 20_000, IMPORTS: 100_000 }],
  wholeness: ["test/suites/wholeness", { WHOLENESS: 1 }],
  histories: ["test/store/histories", { HISTORIES: 1000 }],
  readers: ["test/readers", {}],
};

const [name, ...args] = process.argv.slice(2);
const [file, sizes] = SUITES[name];
for (const [size, value] of Object.entries(sizes)) {
  const at = args.indexOf(`--${size.toLowerCase().replace("_", "-")}`);
  const given = at < 0 ? undefined : args.splice(at, 2)[1];
  process.env[`TAPEHOUSE_${size}`] = given ?? process.env[`TAPEHOUSE_${size}`] ?? String(value);
}

process.argv.splice(2, Infinity, "--long", file, "--disable-console-intercept", ...args);
await import("./test.mjs");

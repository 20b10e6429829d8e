// Bundles src and the packages that it uses into dist/main.js and dist/chunks: loading one file for each part of the
// program takes half the time of loading hundreds. The native part of DuckDB stays a package. The licences of all that
// is in the bundle go into dist/LICENSES.txt.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");

/** Packages in CommonJS call this to load modules of Node. */
const REQUIRE = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

const { metafile } = await build({
  absWorkingDir: root,
  // Tests run commands in their own process by the second one; the third one is the code of a thread, the
  // last one that of a process.
  entryPoints: ["src/main.ts", "src/cli/program.ts", "src/threads/thread.ts", "src/sql/runner.ts"],
  outdir: "dist",
  outbase: "src",
  chunkNames: "chunks/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  external: ["@duckdb/node-bindings"],
  banner: { js: REQUIRE },
  metafile: true,
  logLevel: "warning",
});

const folders = new Set(Object.keys(metafile.inputs).map(packageFolder).filter(Boolean));
writeFileSync(join(root, "dist/LICENSES.txt"), [...folders].sort().map(licenceOf).join("\n\n"));

function packageFolder(path) {
  return /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
}

function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  const texts = readdirSync(join(root, folder))
    .filter((file) => /^(licen[cs]e|notice)/i.test(file))
    .map((file) => readFileSync(join(root, folder, file), "utf8").trim());
  return [`${name} ${version} (${license})`, ...texts].join("\n\n");
}

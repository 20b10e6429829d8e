// Node and npm of given versions from npm's registry, for machines that have others.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Installs both into a folder as `/usr/local` holds them. Returns the folder with the commands. */
export function installNode(folder, node, npm) {
  const packages = join(folder, "packages");
  mkdirSync(packages, { recursive: true });
  writeFileSync(join(packages, "package.json"), "{}");
  const install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", `node@${node}`, `npm@${npm}`];
  execFileSync("npm", install, { cwd: packages, stdio: ["ignore", 2, 2] });
  // The package of the platform comes by a script, which npm may not run by itself.
  const script = join(packages, "node_modules/node");
  execFileSync(process.execPath, ["installArchSpecificPackage.js"], { cwd: script, stdio: ["ignore", 2, 2] });
  const bin = join(folder, "local/bin");
  mkdirSync(bin, { recursive: true });
  cpSync(join(packages, "node_modules/node/bin/node"), join(bin, "node"));
  cpSync(join(packages, "node_modules/npm"), join(folder, "local/lib/node_modules/npm"), { recursive: true });
  for (const name of ["npm", "npx"]) symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(bin, name));
  execFileSync(join(bin, "node"), ["--version"], { stdio: ["ignore", 2, 2] });
  return bin;
}

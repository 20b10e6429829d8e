// `npm run audit`: fails if a shipped package has a known vulnerability of high severity: one that is needed at run time,
// or one that the build bundles or copies. If the registry has no audit service or cannot be reached, it prints that and
// succeeds.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./fresh.mjs";
import modules from "./modules.mjs";
import { VENDOR } from "./vendor.mjs";

const { stdout } = spawnSync("npm", ["audit", "--json"], {
  cwd: root,
  encoding: "utf8",
  shell: process.platform === "win32",
});

const report = parse(stdout);
if (report?.vulnerabilities) {
  const shipped = shippedFolders(JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages);
  const faults = Object.values(report.vulnerabilities).filter(({ nodes }) => nodes.some((node) => shipped.has(node)));
  console.log(`known vulnerabilities of ${shipped.size} shipped packages: ${faults.length}`);
  for (const { name, severity, range } of faults) console.log(`  ${severity}: ${name} ${range}`);
  process.exit(faults.some(({ severity }) => severity === "high" || severity === "critical") ? 1 : 0);
}
console.log(`not audited: ${report?.message?.split(" - ")[0] ?? "the registry did not answer"}`);

/** Folders of packages, as named in the lock file, with the dependencies of what is bundled or copied. */
function shippedFolders(packages) {
  const needed = Object.keys(packages).filter((folder) => folder !== "" && !packages[folder].dev);
  const folders = new Set(needed);
  const add = (folder) => {
    folders.add(folder);
    for (const name of Object.keys(packages[folder].dependencies ?? {})) {
      const own = `${folder}/node_modules/${name}`;
      const found = own in packages ? own : `node_modules/${name}`;
      if (!folders.has(found)) add(found);
    }
  };
  const bundled = Object.values(modules).flatMap(({ packages = [] }) => packages);
  const copied = Object.values(VENDOR).map((path) => /^(?:@[^/]+\/)?[^/]+/.exec(path)[0]);
  for (const name of [...bundled, ...copied]) add(`node_modules/${name}`);
  return folders;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

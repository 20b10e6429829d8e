// `npm run audit`: fails where a package that is shipped has a known fault of high severity. A registry that cannot tell,
// such as a mirror without that service, or one out of reach, fails nothing: it is said.
import { spawnSync } from "node:child_process";
import { root } from "./fresh.mjs";

const { stdout, status } = spawnSync("npm", ["audit", "--omit=dev", "--audit-level=high", "--json"], {
  cwd: root,
  encoding: "utf8",
  shell: process.platform === "win32",
});

const report = parse(stdout);
if (report?.metadata?.vulnerabilities) {
  const { total, ...bySeverity } = report.metadata.vulnerabilities;
  console.log(`known faults of shipped packages: ${total}`, total ? JSON.stringify(bySeverity) : "");
  for (const { name, severity, range } of Object.values(report.vulnerabilities)) {
    console.log(`  ${severity}: ${name} ${range}`);
  }
  process.exit(status ?? 1);
}
console.log(`not audited: ${report?.message?.split(" - ")[0] ?? "the registry did not answer"}`);

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

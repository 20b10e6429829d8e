// `npm run boundaries`: every import must be allowed by scripts/modules.mjs, and every import that it allows must be
// used.
import { cruise } from "dependency-cruiser";
import extractDepcruiseConfig from "dependency-cruiser/config-utl/extract-depcruise-config";
import modules from "./modules.mjs";

const config = await extractDepcruiseConfig("./.dependency-cruiser.mjs");
const options = { ...config.options, ruleSet: { forbidden: config.forbidden }, validate: true };
const { output } = await cruise(["src"], options);
const { violations, totalCruised } = output.summary;

const moduleOf = (path) => Object.keys(modules).find((name) => new RegExp(modules[name].owns).test(path));
const packageOf = (path) => /^node_modules\/(?:@types\/)?((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
const used = new Set(
  output.modules.flatMap(({ source, dependencies }) =>
    dependencies.map(({ resolved }) => `${moduleOf(source)} → ${moduleOf(resolved) ?? packageOf(resolved)}`),
  ),
);
const unused = Object.entries(modules)
  .flatMap(([name, { imports, packages = [] }]) => [...imports, ...packages].map((other) => `${name} → ${other}`))
  .filter((permission) => !used.has(permission));

for (const { rule, from, to } of violations) console.error(`${rule.name}: ${from} → ${to}`);
for (const permission of unused) console.error(`nothing uses ${permission}: remove it from scripts/modules.mjs`);
console.log(`${totalCruised} files, ${violations.length} forbidden imports, ${unused.length} unused permissions`);
process.exitCode = violations.length + unused.length === 0 ? 0 : 1;

// Which imports are allowed: the architecture in CONTRIBUTING.md, as rules that CI checks.

import MODULES from "./scripts/modules.mjs";

const anyOf = (names) => names.map((name) => MODULES[name].owns);
const anyPackage = (names) => names.map((name) => `^node_modules/(@types/)?${name}/`);

const rules = Object.entries(MODULES).flatMap(([name, { owns, imports, packages = [], why }]) => [
  {
    name: `${name}-imports-only-what-lies-below`,
    comment: `${why} It may import: ${imports.join(", ") || "nothing"}.`,
    severity: "error",
    from: { path: owns },
    to: { path: "^src/", pathNot: [owns, ...anyOf(imports)] },
  },
  {
    name: `${name}-uses-only-its-packages`,
    comment: `${why} It may use: ${packages.join(", ") || "no package"}.`,
    severity: "error",
    from: { path: owns },
    to: { path: "node_modules/", pathNot: anyPackage(packages) },
  },
]);

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: [
    ...rules,
    {
      name: "what-is-asked-is-pure",
      comment: "catalog and query do no I/O; of Node itself they may use only hashing and bytes.",
      severity: "error",
      from: { path: anyOf(["catalog", "query"]) },
      to: { dependencyTypes: ["core"], pathNot: "^(node:)?(crypto|buffer)$" },
    },
    {
      name: "the-client-runs-in-browsers",
      comment: "It uses nothing that only Node has.",
      severity: "error",
      from: { path: anyOf(["client"]) },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "every-file-has-a-module",
      comment: "A new folder under src gets a line in MODULES, which says what it may import.",
      severity: "error",
      from: { path: "^src/", pathNot: [...anyOf(Object.keys(MODULES)), "^src/encode/kernel/"] },
      to: {},
    },
    {
      name: "product-knows-no-tests",
      comment: "What is shipped does not depend on test, bench or scripts.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|bench|scripts)/" },
    },
    {
      name: "no-cycles",
      comment: "Two files that need each other are one file, or hide a third.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-orphans",
      comment: "A file that nothing imports and that imports nothing is dead.",
      severity: "error",
      from: { orphan: true, pathNot: "\\.d\\.ts$" },
      to: {},
    },
    {
      name: "every-import-resolves",
      comment: "A typo, a file not committed, or a package not in package.json.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^src/encode/kernel/" },
    tsConfig: { fileName: "tsconfig.json" },
    // Type-only imports count: a module that knows the types of another depends on it.
    tsPreCompilationDeps: true,
  },
};

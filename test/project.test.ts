// The rules of this repository that no linter knows.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { ENTITIES } from "../src/catalog/index.js";
import { temporaryFolder } from "./support/folders.js";

const root = join(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const manifest = JSON.parse(read("package.json"));
const lock = JSON.parse(read("package-lock.json"));

/** All files under a folder, or the file itself, relative to the root; nothing where there is none. */
function filesUnder(path: string): string[] {
  const full = join(root, path);
  if (!existsSync(full)) return [];
  if (statSync(full).isFile()) return [path];
  return readdirSync(full, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name !== ".DS_Store" && !entry.parentPath.includes("node_modules"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

const sources = filesUnder("src").filter((path) => path.endsWith(".ts"));
const scripts = [
  ...filesUnder("scripts").filter((path) => !path.endsWith(".json")),
  ...filesUnder("bench").filter((path) => path.endsWith(".ts")),
];
const pages = [
  "README.md",
  "README.zh-CN.md",
  "SECURITY.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "parquet/README.md",
  ...filesUnder("docs"),
  "clients/python/README.md",
];

describe("packages", () => {
  it("are named with their exact version", () => {
    const versions = Object.entries<string>({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });

  it("are locked by content and not by the address of a registry", () => {
    const entries = Object.entries<Record<string, unknown>>(lock.packages).filter(([path]) => path !== "");
    expect(entries.filter(([, entry]) => "resolved" in entry)).toEqual([]);
    expect(entries.filter(([, entry]) => !("integrity" in entry) && !entry.inBundle)).toEqual([]);
  });

  it("are locked as package.json names them", () => {
    const { version, dependencies, devDependencies } = lock.packages[""];
    expect({ version, dependencies, devDependencies }).toEqual({
      version: manifest.version,
      dependencies: manifest.dependencies,
      devDependencies: manifest.devDependencies,
    });
  });
});

describe("npm run audit", () => {
  /** What it says where npm reports faults of these packages. */
  async function audit(...faults: readonly (readonly [name: string, severity: string])[]) {
    const folder = await temporaryFolder();
    const vulnerabilities = Object.fromEntries(
      faults.map(([name, severity]) => [name, { name, severity, range: "*", nodes: [`node_modules/${name}`] }]),
    );
    writeFileSync(join(folder, "report.json"), JSON.stringify({ vulnerabilities }));
    writeFileSync(join(folder, "npm"), `#!/bin/sh\ncat '${folder}/report.json'\n`, { mode: 0o755 });
    const env = { ...process.env, PATH: `${folder}:${process.env["PATH"] ?? ""}` };
    const { status, stdout } = spawnSync(process.execPath, ["scripts/audit.mjs"], { cwd: root, env, encoding: "utf8" });
    return [status, stdout.split("\n").slice(1, -1)];
  }

  it("fails for a package that is needed at run time, and for one whose files are copied into the build", async () => {
    for (const name of ["express", "qs", "swagger-ui-dist", "lightweight-charts", "fancy-canvas"]) {
      expect(await audit([name, "high"])).toEqual([1, [`  high: ${name} *`]]);
    }
  });

  it("tells of lesser faults, and nothing of packages that only build and test", async () => {
    expect(await audit(["express", "moderate"], ["vitest", "critical"])).toEqual([0, ["  moderate: express *"]]);
  });
});

describe("commands", () => {
  it("are all tried with every Node and npm, or left out for a reason", () => {
    const { commands, leftOut } = JSON.parse(read("scripts/node-matrix.json")) as Record<string, object>;
    expect([...Object.keys(commands!), ...Object.keys(leftOut!)].sort()).toEqual(Object.keys(manifest.scripts).sort());
  });
});

describe("install scripts", () => {
  const packages = Object.entries<{ version: string; hasInstallScript?: boolean; dev?: boolean }>(lock.packages);
  const withScript = packages
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, "")} ${version}`);

  it("of the lock file are listed and justified in SECURITY.md, and no other", () => {
    const table = read("SECURITY.md").split("## Install scripts")[1]!.split("\n## ")[0]!;
    const listed = [...table.matchAll(/^\| `([^`]+)` +\| (\S[^|]{20,})\|/gm)].map((match) => match[1]);
    expect(listed).toEqual(withScript);
  });

  it("run for nothing that is shipped", () => {
    expect(packages.filter(([, { hasInstallScript, dev }]) => hasInstallScript && !dev)).toEqual([]);
    expect(Object.keys(manifest.scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name))).toEqual([]);
  });
});

describe("source files", () => {
  it("begin with one line that says their job", () => {
    const headOf = (path: string): string =>
      read(path)
        .replace(/^#!.*\n/, "")
        .split("\n")[0]!;
    expect([...sources, ...scripts].filter((path) => !/^\/\/ \S.{9,}/.test(headOf(path)))).toEqual([]);
  });

  it("have at most 300 lines, the long tables of the finance entities and what is made from the catalog excepted", () => {
    const lengths = sources.map((path) => [path, read(path).split("\n").length - 1] as const);
    const long = lengths.filter(
      ([path, length]) => length > 300 && !/^src\/(catalog\/finance|client\/entities)/.test(path),
    );
    expect(long).toEqual([]);
  });
});

describe("the repository", () => {
  it("names no machine it was written on and no registry", () => {
    const text = [
      ...sources,
      ...scripts,
      ...pages,
      ...filesUnder(".ci"),
      ...filesUnder("test"),
      ...filesUnder("clients"),
      ...filesUnder("examples"),
    ];
    const machine = /\/(?:home|root|tmp|work|Users)\/|\b(?:npmjs|pypi|unpkg)\.(?:org|com)\b/;
    const found = text
      .filter((path) => /\.(?:ts|mjs|md|py|sh|json|txt|html|css|js)$|^\.ci/.test(path))
      .flatMap((path) =>
        read(path)
          .split("\n")
          .map((line, i) => `${path}:${i + 1}: ${line}`),
      )
      .filter((line) => machine.test(line));
    expect(found).toEqual([]);
  });

  it("has its pages, and every relative link in them leads somewhere", () => {
    const broken = pages
      .filter((path) => path.endsWith(".md"))
      .flatMap((path) =>
        [...read(path).matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)].map((match) => [path, match[1]!] as const),
      )
      .filter(([path, target]) => !existsSync(join(root, dirname(path), target)));
    expect(broken).toEqual([]);
  });

  it("counts its entities nowhere, so that another one makes no text wrong", () => {
    const counted = new RegExp(`\\b${ENTITIES.length}\\s+(?:entities|tables)|${ENTITIES.length}\\s*[张个]`);
    const texts = [...sources, ...pages, ...filesUnder("test"), ...filesUnder("clients")];
    expect(texts.filter((path) => /\.(?:ts|md|py)$/.test(path) && counted.test(read(path)))).toEqual([]);
  });

  it("ships its licence", () => {
    expect(manifest.license).toBe("Apache-2.0");
    expect(read("LICENSE")).toContain("Version 2.0, January 2004");
  });
});

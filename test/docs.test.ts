// What can be asked, set and told must stand in the pages.
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { API_NAMES, apiNamed } from "../src/catalog/tushare.js";
import { CHECKS } from "../src/catalog/checks.js";
import { ENTITIES, ENTITY_NAMES } from "../src/catalog/index.js";
import { createProgram } from "../src/cli/program.js";
import { envOf, flagOf, SETTING_NAMES, SETTINGS } from "../src/settings.js";
import { PROBLEMS } from "../src/errors.js";
import { FORMATS } from "../src/catalog/formats.js";
import { openApi } from "../src/http/openapi/index.js";
import { filterColumns, PARAMETER_KINDS, parameterNames } from "../src/catalog/parameters.js";
import { readDescription, type Json } from "./support/openapi.js";

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
const reference = read("docs/reference.md");

/** The lines of a page's tables, white space set to one blank. */
const rowsOf = (page: string): string[] =>
  page
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) => line.replaceAll(/\s+/g, " "));

/** The items that no line begins with. */
const without = (page: string, beginnings: readonly string[]): string[] =>
  beginnings.filter((beginning) => !rowsOf(page).some((row) => row.startsWith(beginning)));

const problems = Object.entries(PROBLEMS).map(([code, { status }]) => `| \`${code}\` | ${status} |`);

describe.each(["README.md", "README.zh-CN.md"])("%s", (name) => {
  const readme = read(name);

  test("names every entity, in Chinese as the catalog does", () => {
    const namings = ENTITIES.map(({ name: entity, chinese }) =>
      name === "README.md" ? `\`${entity}\`` : `\`${entity}\` ${chinese.title}`,
    );
    expect(namings.filter((naming) => !readme.includes(naming))).toEqual([]);
  });

  test("has every problem code with its status", () => {
    expect(without(readme, problems)).toEqual([]);
  });

  test("has every kind of parameter in the table of parameters", () => {
    const table = rowsOf(readme).filter((row) => /^\| (?:`\w+`[,、 ]*)+/.test(row));
    expect(PARAMETER_KINDS.filter((kind) => !table.some((row) => row.split("|")[1]!.includes(`\`${kind}\``)))).toEqual(
      [],
    );
  });

  test("names every format", () => {
    expect(Object.keys(FORMATS).filter((format) => !readme.includes(`\`${format}\``))).toEqual([]);
  });

  test("has the sections and examples of the other", () => {
    const shape = (text: string) => [text.match(/^## /gm)!.length, text.match(/^```\w*$/gm)!.join()];
    expect(shape(readme)).toEqual(shape(read("README.md")));
  });
});

describe("docs/reference.md", () => {
  test("has every problem code with its status, and no other", () => {
    expect(without(reference, problems)).toEqual([]);
    expect(rowsOf(reference).filter((row) => /^\| `\w+` \| [45]\d\d \|/.test(row))).toHaveLength(problems.length);
  });

  test("has every setting with its environment variable and default", () => {
    const settings = SETTING_NAMES.map((name) => {
      const fallback = name === "temp" ? "" : `\`${SETTINGS[name].fallback}\` |`;
      return `| \`${flagOf(name)}\` | \`${envOf(name)}\` | ${fallback}`;
    });
    expect(without(reference, settings)).toEqual([]);
  });

  test("has every command with all of its options", async () => {
    const missing: string[] = [];
    const look = (command: Command, path: string): void => {
      for (const sub of command.commands) look(sub, `${path} ${sub.name()}`);
      if (command.commands.length > 0) return;
      const row = rowsOf(reference).find((line) => line.startsWith(`| \`${path}`));
      if (row === undefined) missing.push(path);
      for (const { long } of command.options) {
        // Those of the mirror are the same in every command.
        const isEverywhere = path === "tapehouse serve" || long!.startsWith("--mirror");
        const place = isEverywhere ? reference : (row ?? "");
        if (!place.includes(`\`${long!}`)) missing.push(`${path} ${long!}`);
      }
    };
    look(await createProgram(), "tapehouse");
    expect(missing).toEqual([]);
  });

  test("has every route, header and format", () => {
    const { operations, paths: described } = readDescription(openApi());
    const paths = new Set(
      described.map((path) => path.replace(/entities\/\w+/, "entities/<entity>").replace(/\{(\w+)\}/, "<$1>")),
    );
    expect(
      without(
        reference,
        [...paths].map((path) => `| \`${path}\` |`),
      ),
    ).toEqual([]);
    const formats = Object.entries(FORMATS).map(([format, { mediaType }]) => `| \`${format}\` | \`${mediaType}\` |`);
    expect(without(reference, formats)).toEqual([]);
    const headers = operations.flatMap(({ responses }) =>
      Object.values(responses).flatMap((response: Json) => Object.keys(response.headers ?? {})),
    );
    expect([...new Set(headers)].filter((name) => !reference.includes(`\`${name}\``))).toEqual([]);
  });

  test("has every parameter that is no column of an entity, and every one of the other routes", () => {
    const columns = (entity: (typeof ENTITIES)[number]) => new Set(filterColumns(entity).map(({ name }) => name));
    const own = ENTITIES.flatMap((entity) => parameterNames(entity).filter((name) => !columns(entity).has(name)));
    const others = readDescription(openApi()).operations.filter(
      ({ path }) => !ENTITY_NAMES.some((name) => path.endsWith(`/${name}`)),
    );
    const filters = new Set(ENTITIES.flatMap((entity) => [...columns(entity)]));
    const named = others.flatMap(({ path, parameters }) =>
      parameters.map(({ name }) => name).filter((name) => !(path.endsWith("/changes") && filters.has(name))),
    );
    const names = [...own, ...named];
    expect([...new Set(names)].filter((name) => !reference.includes(`\`${name}\``))).toEqual([]);
  });
});

test("docs/data-engineers.md names every check with its severity and sentence", () => {
  const page = rowsOf(read("docs/data-engineers.md"));
  const isThere = ({ id, severity, says }: (typeof CHECKS)[number]): boolean =>
    page.some((row) => row.startsWith(`| \`${id}\` | ${severity} |`) && row.endsWith(`| ${says} |`));
  expect(CHECKS.filter((check) => !isThere(check)).map(({ id }) => id)).toEqual([]);
});

describe("docs/tushare.md", () => {
  const sections = new Map(
    read("docs/tushare.md")
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.slice(0, section.indexOf("\n")), section.replaceAll(/\s+/g, " ")] as const),
  );
  const listed = (api: string, what: string): readonly string[] => {
    const line = new RegExp(`- ${what}: (.*?)(?= - |$)`).exec(sections.get(api) ?? "")?.[1] ?? "";
    return [...line.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
  };

  test("has a section for every API, and for nothing else but the bars of indices", () => {
    expect([...sections.keys()].toSorted()).toEqual([...API_NAMES, "Bars of indices"].toSorted());
  });

  test.each(API_NAMES)("knows which parameters and columns %s has", (name) => {
    const { entity } = apiNamed(name)!;
    const taken = parameterNames(entity);
    const columns = entity.columns.map((column) => column.name);
    expect(listed(name, "Supported").length).toBeGreaterThan(0);
    expect(listed(name, "Supported").filter((parameter) => !taken.includes(parameter))).toEqual([]);
    expect(listed(name, "Not supported").filter((parameter) => taken.includes(parameter))).toEqual([]);
    expect(listed(name, "Columns not here").filter((column) => columns.includes(column))).toEqual([]);
  });
});

describe("the table of what can leak, in docs/quants.md", () => {
  const [, section = ""] = read("docs/quants.md").split("## What can leak, and what stops it\n");
  const leaks = rowsOf(section.split("\n## ")[0]!)
    .slice(2)
    .map((row) => row.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));

  test("has a row for each of many ways", () => {
    expect(leaks.length).toBeGreaterThan(20);
  });

  test.each(leaks)("names a test that runs: %s", (_leak, _stopped, guard) => {
    const [, path = "", name = ""] = /^`([\w./-]+)`: "(.+)"$/.exec(guard) ?? [];
    const code = read(path);
    const title = name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const begin = path.endsWith(".py") ? `^def ${title}\\(` : `\\b(?:test|it)(?:\\.each\\([^;]*?\\))?\\("${title}"`;
    expect(code).toMatch(new RegExp(begin, "m"));
  });
});

// The Dockerfile without Docker: its steps are done one after another in folders. `image.test.ts` builds the image itself.
import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/folders.js";
import { urlOf, type Process } from "../support/processes.js";
import { isLong } from "../support/size.js";

const ROOT = join(import.meta.dirname, "../..");

interface Step {
  readonly word: string;
  readonly rest: string;
}

const steps: readonly Step[] = readFileSync(join(ROOT, "Dockerfile"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => ({ word: line.split(" ")[0]!, rest: line.slice(line.indexOf(" ") + 1) }));

const KNOWN = [
  "ARG",
  "FROM",
  "WORKDIR",
  "COPY",
  "RUN",
  "ENV",
  "USER",
  "VOLUME",
  "EXPOSE",
  "HEALTHCHECK",
  "ENTRYPOINT",
  "CMD",
];

const valueOf = (word: string): string => steps.findLast((step) => step.word === word)!.rest;

/** What `.dockerignore` lets through: everything is left out but the lines that begin with `!`. */
const context = readFileSync(join(ROOT, ".dockerignore"), "utf8").split("\n").filter(Boolean);

describe("the Dockerfile", () => {
  test("has only steps that a builder knows, ends as a user without rights, and copies only what is in its context", () => {
    expect(steps.filter(({ word }) => !KNOWN.includes(word))).toEqual([]);
    expect(valueOf("USER")).toBe("node");
    expect(context[0]).toBe("*");
    const copied = steps.filter(({ word, rest }) => word === "COPY" && !rest.startsWith("--from"));
    const sources = copied.flatMap(({ rest }) => rest.split(" ").slice(0, -1));
    expect(sources.filter((source) => !existsSync(join(ROOT, source)))).toEqual([]);
    expect(sources.sort()).toEqual(
      context
        .slice(1)
        .map((line) => line.slice(1))
        .sort(),
    );
  });

  test("takes its Node from a tag that our packages allow", () => {
    expect(steps.filter(({ word }) => word === "FROM").map(({ rest }) => rest.split(" ")[0])).toEqual([
      ...["${NODE_IMAGE}", "${NODE_IMAGE}"],
    ]);
    expect(valueOf("ARG")).toBe(`NODE_IMAGE=node:${readFileSync(join(ROOT, ".nvmrc"), "utf8").trim()}-slim`);
  });
});

describe.runIf(isLong)("what its steps make", () => {
  let image: string;
  let server: ChildProcess | undefined;
  const told = { stdout: "", stderr: "" };

  const environment = (more: Record<string, string>): NodeJS.ProcessEnv => {
    const set = steps.filter(({ word }) => word === "ENV").flatMap(({ rest }) => rest.split(" "));
    return { PATH: process.env["PATH"], ...Object.fromEntries(set.map((one) => one.split("="))), ...more };
  };

  beforeAll(async () => {
    const root = await temporaryFolder();
    const stages: string[] = [];
    for (const { word, rest } of steps) {
      const here = stages.at(-1)!;
      if (word === "FROM") {
        stages.push(join(root, String(stages.length)));
        mkdirSync(join(stages.at(-1)!, "app"), { recursive: true });
      } else if (word === "COPY") {
        const words = rest.split(" ");
        const isFromBefore = words[0] === "--from=build";
        const target = words.at(-1)!;
        for (const source of words.slice(isFromBefore ? 1 : 0, -1)) {
          const from = isFromBefore ? join(stages[0]!, source) : join(ROOT, source);
          const to = join(here, "app", target.endsWith("/") ? join(target, source.split("/").at(-1)!) : target);
          cpSync(from, to, { recursive: true, verbatimSymlinks: true });
        }
      } else if (word === "RUN" && stages.length === 1) {
        execFileSync("sh", ["-c", rest], {
          cwd: join(here, "app"),
          stdio: ["ignore", "ignore", "inherit"],
          env: { ...process.env, npm_config_prefer_offline: "true" },
        });
      }
    }
    image = stages.at(-1)!;
    for (const name of ["data", "temp"]) mkdirSync(join(image, name), { mode: 0o700 });
  }, 600_000);
  afterAll(async () => {
    const ended = new Promise((resolve) => server?.once("close", resolve));
    if (server?.kill("SIGTERM")) await ended;
  });

  const command = (step: string): readonly string[] => JSON.parse(step.slice(step.indexOf("["))) as string[];

  test("serves, is well by its health check, and stops when it is told to", async () => {
    const [file, ...args] = [...command(valueOf("ENTRYPOINT")), ...command(valueOf("CMD"))];
    const folders = { TAPEHOUSE_DATA: join(image, "data"), TAPEHOUSE_TEMP: join(image, "temp") };
    const given = environment({ ...folders, TAPEHOUSE_PORT: "0", TAPEHOUSE_HOST: "127.0.0.1", TAPEHOUSE_TOKEN: "t" });
    server = spawn(file!, args, { cwd: join(image, "app"), env: given, stdio: ["ignore", "pipe", "pipe"] });
    server.stdout!.on("data", (piece: Buffer) => (told.stdout += piece.toString()));
    server.stderr!.on("data", (piece: Buffer) => (told.stderr += piece.toString()));
    const url = await urlOf({ child: server, told, ended: new Promise(() => undefined) } satisfies Process);
    const answer = await fetch(`${url}/api/v1/meta`, { headers: { Authorization: "Bearer t" } });
    expect(answer.status).toBe(200);

    const [check, ...rest] = command(valueOf("HEALTHCHECK"));
    const health = (port: string) =>
      spawnSync(check!, rest, {
        cwd: join(image, "app"),
        env: environment({ TAPEHOUSE_PORT: port }),
        encoding: "utf8",
      });
    const well = health(new URL(url).port);
    expect([well.status, (JSON.parse(well.stdout) as { status: string }).status]).toEqual([0, "ok"]);

    const code = new Promise((resolve) => server!.once("exit", resolve));
    server.kill("SIGTERM");
    expect(await code).toBe(0);
    const gone = health(new URL(url).port);
    expect([gone.status, gone.stderr]).toEqual([1, expect.stringContaining("ECONNREFUSED")]);
  });

  test("has no package that only building needs, nor one that is in the bundle", () => {
    expect(existsSync(join(image, "app/node_modules/@duckdb/node-bindings"))).toBe(true);
    for (const name of ["typescript", "express"]) {
      expect(existsSync(join(image, "app/node_modules", name))).toBe(false);
    }
    expect(existsSync(join(image, "app/src"))).toBe(false);
  });
});

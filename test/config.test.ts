import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandMemory, environmentNotes, INGEST_PARTS, memoryNeeded, readConfig } from "../src/config.js";
import { MOST_PARTS } from "../src/inbox/lots.js";
import type { SettingName } from "../src/settings.js";
import { OperatorError } from "../src/errors.js";
import { temporaryFolder } from "./support/folders.js";

function refusal(options: Partial<Record<SettingName, string>>, env: Record<string, string> = {}): OperatorError {
  try {
    readConfig(options, env);
  } catch (error) {
    if (error instanceof OperatorError) return error;
    throw error;
  }
  throw new Error("the settings were taken");
}

describe("the settings of the server", () => {
  test("options win over the environment, which wins over the defaults", () => {
    const env = { TAPEHOUSE_PORT: "1", TAPEHOUSE_QUEUE: "7", TAPEHOUSE_TOKEN: "secret" };
    expect(readConfig({ port: "2" }, env)).toMatchObject({ port: 2, queue: 7, concurrency: 8, staticToken: "secret" });
    expect(readConfig({}, { TAPEHOUSE_TOKEN: "" }).staticToken).toBeNull();
  });

  test("origins and the two files of TLS are read, or left out", () => {
    expect(readConfig({}, {})).toMatchObject({ corsOrigin: [], tls: null, rateLimit: null, tokenStreams: 64 });
    const given = { corsOrigin: "https://a.example, http://localhost:3000", tlsCert: "c.pem", tlsKey: "k.pem" };
    expect(readConfig(given, {})).toMatchObject({
      corsOrigin: ["https://a.example", "http://localhost:3000"],
      tls: { cert: "c.pem", key: "k.pem" },
    });
    expect(readConfig({ corsOrigin: "*" }, {}).corsOrigin).toEqual(["*"]);
  });

  test("a cluster has an address, and finds the data where it is or elsewhere", () => {
    const { cluster, clusterData, clusterFrom, clusterFallback } = readConfig({}, {});
    expect([cluster, clusterData, clusterFrom, clusterFallback]).toEqual([null, null, 10e9, "local"]);
    for (const [address, target] of [
      ["sc://a", "a:15002"],
      ["sc://a.b:1/", "a.b:1"],
      ["sc://[::1]:2", "[::1]:2"],
    ])
      expect(readConfig({ cluster: address! }, {}).cluster).toBe(target);
    for (const address of ["", "sc://", "sc://a b", "http://a:1", "sc://a:1/;token=x", "sc://a:b"])
      expect(refusal({ cluster: address }).message, address).toMatch(/^--cluster must be an address such as sc:/);
    expect(readConfig({ clusterData: "/shared/data/" }, {}).clusterData).toBe("/shared/data");
    expect(refusal({ clusterData: "data" }).message).toMatch(/^--cluster-data must be a path that begins with/);
  });

  test("auto starts as many workers as cores and memory keep busy", () => {
    const machine = (cores: number) => ({ cores, memory: 500e9, addresses: Infinity });
    const workers = (memory: string, cores: number): number => readConfig({ memory }, {}, machine(cores)).workers;
    expect([1, 2, 3, 4, 8, 64].map((cores) => workers("8GB", cores))).toEqual([1, 1, 1, 2, 4, 15]);
    expect(["100MB", "1GB", "1GiB", "1.6 GB", "500gb"].map((memory) => workers(memory, 16))).toEqual([1, 1, 2, 3, 8]);
    expect(readConfig({ workers: "3" }, {}, machine(64)).workers).toBe(3);
  });

  test("auto uses the available memory, and only as many workers as fit in it", () => {
    const of = (memory: number, options = {}) => {
      const config = readConfig(options, {}, { cores: 16, memory, addresses: Infinity });
      return [config.workers, config.memory, config.ingestMemory, memoryNeeded(config) <= memory];
    };
    expect(of(64e9)).toEqual([3, "2000MB", "2000MB", true]);
    expect(of(6e9)).toEqual([1, "1058MB", "1058MB", true]);
    expect(of(2e9)).toEqual([1, "188MB", "188MB", true]);
    expect(of(2e9, { sqlProcesses: "0" })).toEqual([1, "293MB", "293MB", true]);
    expect(of(2e9, { watch: "off" })).toEqual([1, "733MB", "733MB", true]);
    expect(of(500e6)).toEqual([1, "128MB", "128MB", false]);
    expect(of(2e9, { memory: "3GB", workers: "4" })).toEqual([4, "3GB", "128MB", false]);
    // One more process, which follows the bucket.
    expect(of(2e9, { watch: "off", bucket: "s3://market/lake" })).toEqual([1, "533MB", "533MB", true]);
    expect(of(3e9, { bucket: "s3://market/lake" })).toEqual([1, "352MB", "352MB", true]);
  });

  test("a command takes most of the memory that there is, and 4 GB at most", () => {
    expect([64e9, 1e9, 200e6].map((memory) => commandMemory({ memory, addresses: Infinity }))).toEqual([
      ...["4000MB", "560MB", "128MB"],
    ]);
  });

  test("a limit of address space counts for each process", () => {
    const of = (addresses: number, options = {}) =>
      readConfig(options, {}, { cores: 2, memory: 64e9, addresses }).memory;
    expect([20e9, 8e9, 2e9].map((addresses) => of(addresses, { watch: "off" }))).toEqual(["2000MB", "2000MB", "128MB"]);
    expect(of(6e9)).toBe("705MB");
    expect([64e9, 4e9].map((addresses) => commandMemory({ memory: 64e9, addresses }))).toEqual(["4000MB", "800MB"]);
  });

  test("an import uses no more memory at once than is counted for it", () => {
    expect(MOST_PARTS).toBe(INGEST_PARTS);
  });

  test.each([
    [{ workers: "0" }, /^--workers must be a whole number from 1 to 64, or auto, not "0"$/],
    [{ encoders: "none" }, /^--encoders must be a whole number from 0 to 64, or auto, not "none"$/],
    [{ port: "70000" }, /^--port must be a whole number from 0 to 65535, not "70000"$/],
    [{ ingestMemory: "much" }, /^--ingest-memory must be a size such as 512MB or 4GB, or auto, not "much"$/],
    [{ watch: "perhaps" }, /^--watch must be on or off/],
    [{ retention: "long" }, /^--retention must be a time span/],
    [{ defaultLimit: "10", maxLimit: "5" }, /^--default-limit 10 is larger than --max-limit 5$/],
    [{ data: "" }, /^--data must name a folder/],
    [
      { data: "gs://bucket/lake" },
      /^--data must name a folder on this machine or a bucket such as s3:\/\/bucket\/prefix: gs:\/\/bucket\/lake is another URL$/,
    ],
    [{ copiesFolder: "" }, /^--copies-folder must be the path of a folder on this machine(, or \w+)?, not ""$/],
    [{ temp: "s3://market/temp" }, /^--temp must be the path of a folder on this machine(, or \w+)?, not "s3:/],
    [{ mirror: "s3://market/lake" }, /^--mirror must be the path of a folder on this machine/],
    [{ data: "file:///srv/lake" }, /^--data must name a folder on this machine/],
    [{ logLevel: "loud" }, /^--log-level must be one of debug, info, warn, error, silent, not "loud"$/],
    [{ rateLimit: "0" }, /^--rate-limit must be a whole number from 1/],
    [{ tlsCert: "cert.pem" }, /^--tls-cert and --tls-key go together/],
    [{ corsOrigin: "https://a.example, https://b.example/path" }, /^--cors-origin .* not "https:\/\/b.example\/path"$/],
    [{ corsOrigin: "" }, /^--cors-origin must be/],
  ])("%j is a wrong call, and the option is named", (options, message) => {
    expect(refusal(options)).toMatchObject({ exitCode: 2, message: expect.stringMatching(message) as string });
  });

  test("a data directory that is a file, or lies below one, is a wrong call", async () => {
    const file = join(await temporaryFolder(), "file");
    writeFileSync(file, "");
    expect(refusal({ data: file })).toMatchObject({
      exitCode: 2,
      message: `--data must name a folder: ${file} is a file`,
    });
    expect(refusal({ data: join(file, "below") }).message).toMatch(/cannot be accessed: ENOTDIR$/);
  });

  test.each(["none", "0", "0MB"])("--cache %s means that no encoded rows are kept", (cache) => {
    expect(readConfig({ cache }, {}).cache).toBe(0);
  });

  test("serving copies may have a size, none, or as much as there is", () => {
    const of = (copies: string) => readConfig({ copies }, {}).copies;
    expect(["none", "0", "0MB", "20GB", "auto"].map(of)).toEqual([0, 0, 0, 20e9, "auto"]);
    expect(() => of("half")).toThrow(
      '--copies must be a size such as 512MB or 4GB, or auto, or 0, or none, not "half"',
    );
  });

  test("an address that Kubernetes sets for a service is no setting: it is ignored, and the log says so", () => {
    const env = { TAPEHOUSE_PORT: "tcp://10.96.0.12:8080", TAPEHOUSE_QUEUE: "7" };
    expect(readConfig({}, env)).toMatchObject({ port: 8080, queue: 7 });
    expect(environmentNotes(env)).toEqual([
      "TAPEHOUSE_PORT=tcp://10.96.0.12:8080 is ignored: it is the address that Kubernetes sets for a service called tapehouse",
    ]);
  });

  test("a token of the environment is reported, without its text", () => {
    const notes = environmentNotes({ TAPEHOUSE_TOKEN: "secret" });
    expect(notes).toEqual(["the token in TAPEHOUSE_TOKEN gives access to everything and does not expire"]);
    expect(environmentNotes({})).toEqual([]);
  });

  test.each(["two words", "line\n", "größe", "\u007f"])("a token that no header can carry is refused: %j", (token) => {
    const { exitCode, message } = refusal({}, { TAPEHOUSE_TOKEN: token });
    expect(exitCode).toBe(2);
    expect(message).not.toContain(token);
  });
});

// The configuration of a server: every setting as its parser reads it, and what follows from several of them.
import packageInfo from "../package.json" with { type: "json" };
import { OperatorError } from "./errors.js";
import { machineAt, type Machine } from "./machine.js";
import { bytesOf, MOST_WORKERS } from "./setting-values.js";
import { envOf, flagOf, SETTING_NAMES, SETTINGS, type SettingName } from "./settings.js";

type Parsed = { readonly [Name in SettingName]: ReturnType<(typeof SETTINGS)[Name]["parse"]> };

/** Every setting as its parser reads it: sizes for DuckDB as text, others in bytes, times in milliseconds. */
export interface ServerConfig extends Omit<
  Parsed,
  "workers" | "encoders" | "sqlProcesses" | "sqlMemory" | "memory" | "ingestMemory" | "tlsCert" | "tlsKey"
> {
  readonly workers: number;
  readonly encoders: number;
  readonly sqlProcesses: number;
  readonly sqlMemory: string;
  readonly memory: string;
  readonly ingestMemory: string;
  /** Files in PEM; null for plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** The address of the bucket that `data` mirrors; null if the lake is in `data` itself. */
  readonly bucket: string | null;
  /** A token that is valid besides the stored ones, or null. */
  readonly staticToken: string | null;
}

/** Both files or neither; one alone is an OperatorError. */
function tlsFiles(cert: string | null, key: string | null): ServerConfig["tls"] {
  if (cert === null && key === null) return null;
  if (cert !== null && key !== null) return { cert, key };
  throw new OperatorError("--tls-cert and --tls-key go together: a certificate needs its key", 2);
}

/** The token of the environment; null where there is none. One that no request header can carry is an OperatorError. */
function staticToken(text = ""): string | null {
  if (text === "" || /^[\x21-\x7e]+$/.test(text)) return text || null;
  throw new OperatorError("TAPEHOUSE_TOKEN must hold visible ASCII characters only, without blanks", 2);
}

/** A worker keeps two cores busy with a wide pull: DuckDB reads the next rows while these are encoded. */
const CORES_OF_A_WORKER = 2;
const BYTES_OF_A_WORKER = 512e6;

/** Memory of a process without DuckDB, roughly, in bytes. */
const OWN_MEMORY = 300e6;
/** How many times `ingestMemory` may be in use at once. */
export const INGEST_PARTS = 2.75;
/** Address space of a process without DuckDB, roughly, in bytes: libraries, stacks of threads and reserved heaps. */
const OWN_ADDRESSES = 3e9;
/** Bytes for DuckDB where nothing is set. It works with less, slowly. */
const USUAL_MEMORY = 2e9;
const LEAST_MEMORY = 128e6;

type Processes = Pick<ServerConfig, "workers" | "watch" | "bucket" | "sqlProcesses">;

/** Memory of the supervisor, the workers, the processes beside them and those of SQL, without what DuckDB gets. In bytes. */
const ownMemory = ({ workers, watch, bucket, sqlProcesses }: Processes): number =>
  (1 + workers + (watch ? 1 : 0) + (bucket === null ? 0 : 1) + sqlProcesses) * OWN_MEMORY;

/** Bytes that a server may use in all. */
export function memoryNeeded(config: Processes & Pick<ServerConfig, "memory" | "ingestMemory" | "sqlMemory">): number {
  const { memory, ingestMemory, watch, sqlProcesses, sqlMemory } = config;
  const inbox = watch ? INGEST_PARTS * bytesOf(ingestMemory) : 0;
  return ownMemory(config) + bytesOf(memory) + inbox + (sqlProcesses > 0 ? bytesOf(sqlMemory) : 0);
}

/** Bytes of memory from which there are two processes for SQL for each worker, so that no token can take all. */
const MEMORY_FOR_TWO = 4e9;

/** What SQL gets of what `memory` is, where nothing is set. */
const SQL_PART = 0.5;

/** A size for `memory`, and for `ingestMemory` too, with which a server keeps to the limits of the machine. */
export function affordableMemory(
  { memory, addresses }: Pick<Machine, "memory" | "addresses">,
  processes: Processes,
): string {
  const left = memory - ownMemory(processes);
  const parts = 1 + (processes.watch ? INGEST_PARTS : 0) + (processes.sqlProcesses > 0 ? SQL_PART : 0);
  const share = Math.min(left, addresses - OWN_ADDRESSES) / parts;
  return `${Math.floor(Math.min(USUAL_MEMORY, Math.max(LEAST_MEMORY, share)) / 1e6)}MB`;
}

/** The size for DuckDB in a command that runs by itself. */
export function commandMemory({ memory, addresses }: Pick<Machine, "memory" | "addresses"> = machineAt()): string {
  const left = Math.min(memory - OWN_MEMORY, addresses - OWN_ADDRESSES);
  const bytes = Math.min(MOST_OF_COMMAND, Math.max(LEAST_MEMORY, left * PART_OF_COMMAND));
  return `${Math.floor(bytes / 1e6)}MB`;
}

const MOST_OF_COMMAND = 4e9;
/** DuckDB may exceed its limit somewhat. */
const PART_OF_COMMAND = 0.8;

/** The number of workers that the cores and the memory allow. `memoryOf` gives DuckDB's memory for a number of workers. */
function workersFor(cores: number, memoryOf: (workers: number) => string): number {
  let workers = Math.floor(Math.min(MOST_WORKERS, cores / CORES_OF_A_WORKER));
  while (workers > 1 && bytesOf(memoryOf(workers)) < workers * BYTES_OF_A_WORKER) workers--;
  return Math.max(1, workers);
}

/**
 * In a namespace with a service called `tapehouse`, Kubernetes sets TAPEHOUSE_PORT to an address such as
 * `tcp://10.96.0.12:8080`. No setting has such values.
 */
const isServiceAddress = (text: string | undefined): boolean => /^(tcp|udp|sctp):\/\//.test(text ?? "");

const variable = (env: Environment, name: SettingName): string | undefined => {
  const text = env[envOf(name)];
  return isServiceAddress(text) ? undefined : text;
};

/** What an operator should know about the environment of a server, a line each. */
export function environmentNotes(env: Environment): readonly string[] {
  const addresses = SETTING_NAMES.map(envOf).filter((name) => isServiceAddress(env[name]));
  return [
    ...addresses.map(
      (name) =>
        `${name}=${env[name]} is ignored: it is the address that Kubernetes sets for a service called tapehouse`,
    ),
    ...(env["TAPEHOUSE_TOKEN"] ? ["the token in TAPEHOUSE_TOKEN gives access to everything and does not expire"] : []),
  ];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The options of a command as text. `bucket` is the address that was given for `data`, if it was one of a bucket. */
export type GivenSettings = Readonly<Partial<Record<SettingName | "bucket", string>>>;

/** Options of the command line win over the environment, which wins over the defaults. */
export function readConfig(options: GivenSettings, env: Environment, machine: Machine = machineAt()): ServerConfig {
  const read = (name: SettingName) =>
    SETTINGS[name].parse(options[name] ?? variable(env, name) ?? SETTINGS[name].fallback, flagOf(name));
  const parsed = Object.fromEntries(SETTING_NAMES.map((name) => [name, read(name)])) as Parsed;
  const {
    workers: asked,
    encoders,
    memory,
    ingestMemory,
    sqlProcesses,
    sqlMemory,
    tlsCert,
    tlsKey,
    ...others
  } = parsed;
  const { defaultLimit, maxLimit, watch } = others;
  const { bucket = null } = options;
  if (maxLimit !== null && (defaultLimit ?? 0) > maxLimit) {
    throw new OperatorError(`--default-limit ${defaultLimit} is larger than --max-limit ${maxLimit}`, 2);
  }
  const each = machine.memory < MEMORY_FOR_TWO ? 1 : 2;
  const statementsOf = (workers: number): number => (sqlProcesses === "auto" ? each * workers : sqlProcesses);
  const affordable = (workers: number): string =>
    affordableMemory(machine, { workers, watch, bucket, sqlProcesses: statementsOf(workers) });
  const memoryOf = memory === "auto" ? affordable : () => memory;
  const workers = asked === "auto" ? workersFor(machine.cores, memoryOf) : asked;
  const part = affordable(workers);
  const chosen = memory === "auto" ? part : memory;
  return {
    ...others,
    bucket,
    workers,
    encoders: encoders === "auto" ? encodersFor(machine, workers) : encoders,
    memory: chosen,
    ingestMemory: ingestMemory === "auto" ? part : ingestMemory,
    sqlProcesses: statementsOf(workers),
    sqlMemory: sqlMemory === "auto" ? `${Math.floor((bytesOf(chosen) * SQL_PART) / 1e6)}MB` : sqlMemory,
    tls: tlsFiles(tlsCert, tlsKey),
    staticToken: staticToken(env["TAPEHOUSE_TOKEN"]),
  };
}

/**
 * The cores without a worker, if there is one for each worker. Where addresses are limited, memory for threads may be
 * missing.
 */
const encodersFor = ({ cores, addresses }: Machine, workers: number): number =>
  addresses === Infinity && cores >= 2 * workers ? Math.min(MOST_WORKERS, cores - workers) : 0;

/** One worker's share of the limits that are for the whole server. */
export function shareOf(config: ServerConfig): ServerConfig {
  const { workers, ...whole } = config;
  const shares = SETTING_NAMES.flatMap((name) => {
    const { share } = SETTINGS[name];
    return share === undefined ? [] : [[name, share(whole[name as keyof typeof whole] as never, workers)] as const];
  });
  return { ...config, ...Object.fromEntries<unknown>(shares) };
}

/** The version of this package, which is also that of the OpenAPI description. */
export const PACKAGE_VERSION = packageInfo.version;

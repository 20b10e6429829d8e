// Every setting of the server in one table: option, environment variable, default, meaning.
import { statSync } from "node:fs";
import { join } from "node:path";
import { availableParallelism, tmpdir } from "node:os";
import { parseSpan } from "./dates.js";
import { OperatorError } from "./errors.js";

interface Setting {
  readonly env: string;
  readonly fallback: string;
  readonly meaning: string;
}

export const SETTINGS = {
  data: { env: "TAPEHOUSE_DATA", fallback: "parquet", meaning: "data directory" },
  host: { env: "TAPEHOUSE_HOST", fallback: "127.0.0.1", meaning: "address to listen on" },
  port: { env: "TAPEHOUSE_PORT", fallback: "8080", meaning: "port to listen on; 0 picks a free one" },
  workers: { env: "TAPEHOUSE_WORKERS", fallback: "auto", meaning: "processes that answer; auto goes by the cores" },
  memory: { env: "TAPEHOUSE_MEMORY", fallback: "2GB", meaning: "memory of DuckDB; more spills to the disk" },
  temp: { env: "TAPEHOUSE_TEMP", fallback: join(tmpdir(), "tapehouse"), meaning: "folder for what spills" },
  spill: { env: "TAPEHOUSE_SPILL", fallback: "10GB", meaning: "disk for what spills; a query beyond it gets 503" },
  cache: {
    env: "TAPEHOUSE_CACHE",
    fallback: "4GB",
    meaning: "disk for encoded rows that are asked for again, or none",
  },
  concurrency: { env: "TAPEHOUSE_CONCURRENCY", fallback: "8", meaning: "queries that work at the same time" },
  streams: { env: "TAPEHOUSE_STREAMS", fallback: "128", meaning: "answers that may be under way at the same time" },
  queue: { env: "TAPEHOUSE_QUEUE", fallback: "256", meaning: "answers that may wait to start; beyond it 503" },
  deadline: { env: "TAPEHOUSE_DEADLINE", fallback: "600", meaning: "seconds a query may take before 504" },
  stall: { env: "TAPEHOUSE_STALL", fallback: "60", meaning: "seconds a client may read nothing before it is cut" },
  grace: { env: "TAPEHOUSE_GRACE", fallback: "20", meaning: "seconds that running answers get when the server stops" },
  defaultLimit: { env: "TAPEHOUSE_DEFAULT_LIMIT", fallback: "none", meaning: "rows of an answer without limit=" },
  maxLimit: { env: "TAPEHOUSE_MAX_LIMIT", fallback: "none", meaning: "largest limit that may be asked" },
  logLevel: {
    env: "TAPEHOUSE_LOG_LEVEL",
    fallback: "info",
    meaning: "what is logged: debug, info, warn, error, silent",
  },
  connections: { env: "TAPEHOUSE_CONNECTIONS", fallback: "10000", meaning: "connections at the same time" },
  rateLimit: {
    env: "TAPEHOUSE_RATE_LIMIT",
    fallback: "none",
    meaning: "requests a minute of each token; beyond it 429",
  },
  wrongTokens: {
    env: "TAPEHOUSE_WRONG_TOKENS",
    fallback: "30",
    meaning: "wrong tokens a minute from each address; beyond it 429",
  },
  tokenStreams: { env: "TAPEHOUSE_TOKEN_STREAMS", fallback: "64", meaning: "answers under way of each token" },
  corsOrigin: {
    env: "TAPEHOUSE_CORS_ORIGIN",
    fallback: "none",
    meaning: "origins whose web pages may ask, parted by commas, or *",
  },
  tlsCert: { env: "TAPEHOUSE_TLS_CERT", fallback: "none", meaning: "file with the certificate chain (PEM), for HTTPS" },
  tlsKey: { env: "TAPEHOUSE_TLS_KEY", fallback: "none", meaning: "file with the private key (PEM), for HTTPS" },
  watch: { env: "TAPEHOUSE_WATCH", fallback: "on", meaning: "take what is dropped into the inbox: on or off" },
  ingestMemory: { env: "TAPEHOUSE_INGEST_MEMORY", fallback: "2GB", meaning: "memory of DuckDB for taking drops" },
  maxDrop: { env: "TAPEHOUSE_MAX_DROP", fallback: "10GB", meaning: "largest file taken from the inbox" },
  ingestSpill: {
    env: "TAPEHOUSE_INGEST_SPILL",
    fallback: "20GB",
    meaning: "disk for what spills while drops are taken",
  },
  maxFileRows: {
    env: "TAPEHOUSE_MAX_FILE_ROWS",
    fallback: "50000000",
    meaning: "rows of a file; one with more is refused",
  },
  maxUnpacked: {
    env: "TAPEHOUSE_MAX_UNPACKED",
    fallback: "16GB",
    meaning: "what a file may unpack to; beyond 1GB also at most 64 times its size",
  },
  keepVersions: { env: "TAPEHOUSE_KEEP_VERSIONS", fallback: "50", meaning: "newest versions that always stay" },
  retention: {
    env: "TAPEHOUSE_RETENTION",
    fallback: "90d",
    meaning: "how long the last version of each day stays; none keeps every version",
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export interface ServerConfig {
  readonly data: string;
  readonly host: string;
  readonly port: number;
  readonly workers: number;
  readonly memory: string;
  readonly temp: string;
  readonly spill: string;
  /** Bytes. */
  readonly cache: number;
  readonly concurrency: number;
  readonly streams: number;
  readonly queue: number;
  /** Milliseconds. */
  readonly deadline: number;
  /** Milliseconds. */
  readonly stall: number;
  /** Milliseconds. */
  readonly grace: number;
  readonly defaultLimit: number | null;
  readonly maxLimit: number | null;
  readonly logLevel: LogLevel;
  readonly connections: number;
  /** Requests a minute. */
  readonly rateLimit: number | null;
  /** Wrong tokens a minute. */
  readonly wrongTokens: number;
  readonly tokenStreams: number | null;
  /** Origins such as `https://example.com`, or `*` for any; empty for none. */
  readonly corsOrigins: readonly string[];
  /** Files in PEM; null for plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly watch: boolean;
  readonly ingestMemory: string;
  /** Bytes. */
  readonly maxDrop: number;
  readonly ingestSpill: string;
  readonly maxFileRows: number;
  /** Bytes. */
  readonly maxUnpacked: number;
  readonly keepVersions: number;
  /** Milliseconds; null keeps every version. */
  readonly retention: number | null;
  /** A token that is valid besides the stored ones, or null. */
  readonly staticToken: string | null;
}

/** The option of a setting, e.g. `--max-limit`. */
export const flagOf = (name: SettingName): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** A size of memory as DuckDB takes it. Another text is a OperatorError that names the option. */
export function memorySize(option: string, text: string): string {
  if (/^\d+(\.\d+)?\s*(MB|GB|MiB|GiB)$/i.test(text)) return text;
  throw new OperatorError(`${option} must be a size such as 512MB or 4GB, not "${text}"`, 2);
}

const UNITS: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9, MIB: 2 ** 20, GIB: 2 ** 30 };

/** Bytes of a size of memory. */
export const bytesOf = (size: string): number =>
  Number.parseFloat(size) * UNITS[size.replace(/[\d.\s]/g, "").toUpperCase()]!;

/** Rows of a file at most. Another text is a OperatorError. */
export function fileRows(text: string): number {
  if (/^[1-9]\d{0,11}$/.test(text)) return Number(text);
  throw new OperatorError(`--max-file-rows must be a whole number such as 50000000, not "${text}"`, 2);
}

/** A data directory, there or not. No name, the name of a file, or one out of reach is a OperatorError. */
export function dataDirectory(text: string): string {
  if (text.trim() === "") throw new OperatorError("--data must name a folder, not nothing", 2);
  try {
    if (statSync(text, { throwIfNoEntry: false })?.isDirectory() !== false) return text;
  } catch (error) {
    throw new OperatorError(`--data ${text} is out of reach: ${(error as NodeJS.ErrnoException).code}`, 2);
  }
  throw new OperatorError(`--data must name a folder: ${text} is a file`, 2);
}

/** Origins as browsers send them, parted by commas. Another text is a OperatorError. */
function origins(option: string, text: string): readonly string[] {
  if (text === "none") return [];
  const listed = text.split(",").map((origin) => origin.trim());
  const wrong = listed.find((origin) => origin !== "*" && !(URL.canParse(origin) && new URL(origin).origin === origin));
  if (wrong === undefined) return listed;
  throw new OperatorError(`${option} must be *, none, or origins such as https://example.com, not "${wrong}"`, 2);
}

/** Both files or neither; one alone is a OperatorError. */
function tlsFiles(cert: string, key: string): ServerConfig["tls"] {
  if (cert === "none" && key === "none") return null;
  if (cert !== "none" && key !== "none") return { cert, key };
  throw new OperatorError("--tls-cert and --tls-key go together: a certificate needs its key", 2);
}

/** The token of the environment; null where there is none. One that no request header can carry is a OperatorError. */
function staticToken(text = ""): string | null {
  if (text === "" || /^[\x21-\x7e]+$/.test(text)) return text || null;
  throw new OperatorError("TAPEHOUSE_TOKEN must hold visible ASCII characters only, without blanks", 2);
}

const MOST_WORKERS = 64;

/** A worker keeps two cores busy with a wide pull: DuckDB reads the next rows while these are encoded. */
const CORES_OF_A_WORKER = 2;
const BYTES_OF_A_WORKER = 512e6;

/** As many workers as cores and memory keep busy. */
function workersFor(cores: number, memory: string): number {
  const most = Math.min(MOST_WORKERS, cores / CORES_OF_A_WORKER, bytesOf(memory) / BYTES_OF_A_WORKER);
  return Math.max(1, Math.floor(most));
}

/** Options of the command line win over the environment, which wins over the defaults. */
export function readConfig(
  options: Readonly<Partial<Record<SettingName, string>>>,
  env: Readonly<Record<string, string | undefined>>,
  cores = availableParallelism(),
): ServerConfig {
  const text = (name: SettingName): string => options[name] ?? env[SETTINGS[name].env] ?? SETTINGS[name].fallback;
  const number = (name: SettingName, least: number, most: number): number => {
    const value = /^\d{1,9}$/.test(text(name)) ? Number(text(name)) : -1;
    if (value < least || value > most) {
      throw new OperatorError(
        `${flagOf(name)} must be a whole number from ${least} to ${most}, not "${text(name)}"`,
        2,
      );
    }
    return value;
  };
  const limit = (name: SettingName): number | null => (text(name) === "none" ? null : number(name, 1, 999_999_999));
  const size = (name: SettingName): string => memorySize(flagOf(name), text(name));
  const onOff = (name: SettingName): boolean => {
    if (text(name) === "on" || text(name) === "off") return text(name) === "on";
    throw new OperatorError(`${flagOf(name)} must be on or off, not "${text(name)}"`, 2);
  };
  const span = (name: SettingName): number | null => {
    const value = text(name) === "none" ? null : parseSpan(text(name));
    if (value !== undefined) return value;
    throw new OperatorError(`${flagOf(name)} must be a time span such as 90d or 12h, or none, not "${text(name)}"`, 2);
  };
  const logLevel = LOG_LEVELS.find((level) => level === text("logLevel"));
  if (!logLevel) {
    throw new OperatorError(
      `${flagOf("logLevel")} must be one of ${LOG_LEVELS.join(", ")}, not "${text("logLevel")}"`,
      2,
    );
  }
  const config: ServerConfig = {
    data: dataDirectory(text("data")),
    host: text("host"),
    port: number("port", 0, 65_535),
    workers: text("workers") === "auto" ? workersFor(cores, size("memory")) : number("workers", 1, MOST_WORKERS),
    memory: size("memory"),
    temp: text("temp"),
    spill: size("spill"),
    cache: text("cache") === "none" ? 0 : bytesOf(size("cache")),
    concurrency: number("concurrency", 1, 256),
    streams: number("streams", 1, 10_000),
    queue: number("queue", 0, 100_000),
    deadline: number("deadline", 1, 86_400) * 1000,
    stall: number("stall", 1, 86_400) * 1000,
    grace: number("grace", 0, 86_400) * 1000,
    defaultLimit: limit("defaultLimit"),
    maxLimit: limit("maxLimit"),
    logLevel,
    connections: number("connections", 1, 1_000_000),
    rateLimit: limit("rateLimit"),
    wrongTokens: number("wrongTokens", 1, 1_000_000),
    tokenStreams: limit("tokenStreams"),
    corsOrigins: origins(flagOf("corsOrigin"), text("corsOrigin")),
    tls: tlsFiles(text("tlsCert"), text("tlsKey")),
    watch: onOff("watch"),
    ingestMemory: size("ingestMemory"),
    maxDrop: bytesOf(size("maxDrop")),
    ingestSpill: size("ingestSpill"),
    maxFileRows: fileRows(text("maxFileRows")),
    maxUnpacked: bytesOf(size("maxUnpacked")),
    keepVersions: number("keepVersions", 1, 1_000_000),
    retention: span("retention"),
    staticToken: staticToken(env["TAPEHOUSE_TOKEN"]),
  };
  if (config.maxLimit !== null && (config.defaultLimit ?? 0) > config.maxLimit) {
    throw new OperatorError(`--default-limit ${config.defaultLimit} is larger than --max-limit ${config.maxLimit}`, 2);
  }
  return config;
}

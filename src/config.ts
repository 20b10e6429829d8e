// Every setting of the server in one table: option, environment variable, default, meaning.
import { join } from "node:path";
import { tmpdir } from "node:os";
import { CommandError } from "./errors.js";

interface Setting {
  readonly env: string;
  readonly fallback: string;
  readonly meaning: string;
}

export const SETTINGS = {
  data: { env: "TAPEHOUSE_DATA", fallback: "parquet", meaning: "data directory" },
  host: { env: "TAPEHOUSE_HOST", fallback: "127.0.0.1", meaning: "address to listen on" },
  port: { env: "TAPEHOUSE_PORT", fallback: "8080", meaning: "port to listen on; 0 picks a free one" },
  memory: { env: "TAPEHOUSE_MEMORY", fallback: "2GB", meaning: "memory of DuckDB; more spills to the disk" },
  temp: { env: "TAPEHOUSE_TEMP", fallback: join(tmpdir(), "tapehouse"), meaning: "folder for what spills" },
  concurrency: { env: "TAPEHOUSE_CONCURRENCY", fallback: "8", meaning: "queries that run at the same time" },
  queue: { env: "TAPEHOUSE_QUEUE", fallback: "256", meaning: "queries that may wait; beyond it 503" },
  deadline: { env: "TAPEHOUSE_DEADLINE", fallback: "600", meaning: "seconds a query may take before 504" },
  defaultLimit: { env: "TAPEHOUSE_DEFAULT_LIMIT", fallback: "none", meaning: "rows of an answer without limit=" },
  maxLimit: { env: "TAPEHOUSE_MAX_LIMIT", fallback: "none", meaning: "largest limit that may be asked" },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;

export interface ServerConfig {
  readonly data: string;
  readonly host: string;
  readonly port: number;
  readonly memory: string;
  readonly temp: string;
  readonly concurrency: number;
  readonly queue: number;
  /** Milliseconds. */
  readonly deadline: number;
  readonly defaultLimit: number | null;
  readonly maxLimit: number | null;
  /** A token that is valid besides the stored ones, or null. */
  readonly staticToken: string | null;
}

/** Options of the command line win over the environment, which wins over the defaults. */
export function readConfig(
  options: Readonly<Partial<Record<SettingName, string>>>,
  env: Readonly<Record<string, string | undefined>>,
): ServerConfig {
  const text = (name: SettingName): string => options[name] ?? env[SETTINGS[name].env] ?? SETTINGS[name].fallback;
  const number = (name: SettingName, least: number, most: number): number => {
    const value = /^\d{1,9}$/.test(text(name)) ? Number(text(name)) : -1;
    if (value < least || value > most) {
      throw new CommandError(`${name} must be a whole number from ${least} to ${most}, not "${text(name)}"`, 2);
    }
    return value;
  };
  const limit = (name: SettingName): number | null => (text(name) === "none" ? null : number(name, 1, 999_999_999));
  if (!/^\d+(\.\d+)?\s*(MB|GB|MiB|GiB)$/i.test(text("memory"))) {
    throw new CommandError(`memory must be a size such as 512MB or 4GB, not "${text("memory")}"`, 2);
  }
  const config: ServerConfig = {
    data: text("data"),
    host: text("host"),
    port: number("port", 0, 65_535),
    memory: text("memory"),
    temp: text("temp"),
    concurrency: number("concurrency", 1, 256),
    queue: number("queue", 0, 100_000),
    deadline: number("deadline", 1, 86_400) * 1000,
    defaultLimit: limit("defaultLimit"),
    maxLimit: limit("maxLimit"),
    staticToken: env["TAPEHOUSE_TOKEN"] || null,
  };
  if (config.maxLimit !== null && (config.defaultLimit ?? 0) > config.maxLimit) {
    throw new CommandError(`defaultLimit ${config.defaultLimit} is larger than maxLimit ${config.maxLimit}`, 2);
  }
  return config;
}

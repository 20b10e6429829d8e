// Every setting is one row: its name (of which option and environment variable are made), default, meaning, parser and users.
import { join } from "node:path";
import { tmpdir } from "node:os";
import { MOST_WORKERS, parsers } from "./setting-values.js";
import { partOf, partOfSize, partOrAuto, partOrNone, partOrNothing } from "./setting-shares.js";
import { type Command, type Setting, setting } from "./setting-types.js";
import { SQL_SETTINGS } from "./sql-settings.js";

const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

const SERVER = ["serve"] as const;
const CHECKED = ["serve", "doctor"] as const;
const INBOX = ["serve", "ingest"] as const;
const FILES = ["serve", "ingest", "import"] as const;
const COPIES = ["serve", "ingest", "follow", "copies", "doctor"] as const;

const limit = parsers.orNone(parsers.wholeNumber(1, 999_999_999));

export const SETTINGS = {
  data: setting({
    fallback: "parquet",
    meaning: "data directory, or a bucket such as s3://bucket/prefix",
    parse: parsers.dataDirectory,
    of: ["serve", "ingest", "follow", "import", "copies", "doctor"],
    offers: "folders",
  }),
  mirror: setting({
    fallback: "none",
    meaning: "directory for the mirror of an s3:// data directory; none: one in the user's cache folder",
    parse: parsers.orNone(parsers.folder),
    of: [],
    offers: "folders",
  }),
  mirrorSize: setting({
    fallback: "auto",
    meaning: "disk space for data files of a mirror; auto: half of what is free",
    parse: parsers.orAuto(parsers.bytes),
    of: [],
  }),
  host: setting({ fallback: "127.0.0.1", meaning: "address to listen on", parse: parsers.anyText, of: CHECKED }),
  port: setting({
    fallback: "8080",
    meaning: "port to listen on; 0 picks a free one",
    parse: parsers.wholeNumber(0, 65_535),
    of: CHECKED,
  }),
  workers: setting({
    fallback: "auto",
    meaning: "number of worker processes; auto: one per two cores, as far as --memory allows",
    parse: parsers.orAuto(parsers.wholeNumber(1, MOST_WORKERS)),
    of: CHECKED,
  }),
  encoders: setting({
    fallback: "auto",
    meaning: "threads that encode wide responses; auto: one per core without a worker; 0: none",
    parse: parsers.orAuto(parsers.wholeNumber(0, MOST_WORKERS)),
    of: CHECKED,
    share: partOrAuto,
  }),
  memory: setting({
    fallback: "auto",
    meaning: "memory for DuckDB; beyond it, queries spill to disk; auto: 2 GB, or less if less memory is available",
    parse: parsers.orAuto(parsers.size),
    of: CHECKED,
    share: partOfSize,
  }),
  temp: setting({
    fallback: join(tmpdir(), "tapehouse"),
    meaning: "directory for spilled and cached data",
    parse: parsers.folder,
    of: CHECKED,
    offers: "folders",
  }),
  spill: setting({
    fallback: "10GB",
    meaning: "disk space for spilling; a query that needs more gets 503",
    parse: parsers.size,
    of: SERVER,
    share: partOfSize,
  }),
  cache: setting({
    fallback: "4GB",
    meaning: "disk space for the cache of encoded rows; none or 0 disables it",
    parse: parsers.orNothing(parsers.bytes),
    of: SERVER,
  }),
  copies: setting({
    fallback: "auto",
    meaning: "disk space for serving copies; auto: half of what is free; none or 0: no copies",
    parse: parsers.orNothing(parsers.orAuto(parsers.bytes)),
    of: COPIES,
  }),
  copiesFolder: setting({
    fallback: "none",
    meaning: "directory for serving copies; none: copies/ in the data directory",
    parse: parsers.orNone(parsers.folder),
    of: COPIES,
    offers: "folders",
  }),
  concurrency: setting({
    fallback: "8",
    meaning: "queries that run at the same time",
    parse: parsers.wholeNumber(1, 256),
    of: SERVER,
    share: partOf,
  }),
  streams: setting({
    fallback: "128",
    meaning: "responses in progress at the same time",
    parse: parsers.wholeNumber(1, 10_000),
    of: SERVER,
    share: partOf,
  }),
  queue: setting({
    fallback: "256",
    meaning: "queries that may wait; beyond it 503",
    parse: parsers.wholeNumber(0, 100_000),
    of: SERVER,
    share: partOrNothing,
  }),
  deadline: setting({
    fallback: "600",
    meaning: "seconds that a query may take; beyond it 504",
    parse: parsers.seconds(1),
    of: INBOX,
  }),
  stall: setting({
    fallback: "60",
    meaning: "seconds that a client may read nothing before it is disconnected",
    parse: parsers.seconds(1),
    of: SERVER,
  }),
  grace: setting({
    fallback: "20",
    meaning: "seconds that running responses get to finish when the server stops",
    parse: parsers.seconds(0),
    of: SERVER,
  }),
  ...SQL_SETTINGS,
  defaultLimit: setting({ fallback: "none", meaning: "rows returned without limit", parse: limit, of: SERVER }),
  maxLimit: setting({ fallback: "none", meaning: "largest accepted limit", parse: limit, of: SERVER }),
  logLevel: setting({
    fallback: "info",
    meaning: "what to log: debug, info, warn, error or silent",
    parse: parsers.oneOf(LOG_LEVELS),
    of: SERVER,
    offers: LOG_LEVELS,
  }),
  connections: setting({
    fallback: "10000",
    meaning: "simultaneous connections; beyond it 503",
    parse: parsers.wholeNumber(1, 1_000_000),
    of: SERVER,
    share: partOf,
  }),
  rateLimit: setting({
    fallback: "none",
    meaning: "requests per minute and token; beyond it 429",
    parse: limit,
    of: SERVER,
    share: partOrNone,
  }),
  wrongTokens: setting({
    fallback: "30",
    meaning: "wrong tokens per minute and address; beyond it 429",
    parse: parsers.wholeNumber(1, 1_000_000),
    of: SERVER,
  }),
  tokenStreams: setting({
    fallback: "64",
    meaning: "responses in progress per token",
    parse: limit,
    of: SERVER,
    share: partOrNone,
  }),
  corsOrigin: setting({
    fallback: "none",
    meaning: "origins whose pages may read responses, comma-separated, or *",
    parse: parsers.origins,
    of: SERVER,
  }),
  tlsCert: setting({
    fallback: "none",
    meaning: "certificate chain (PEM file); enables HTTPS",
    parse: parsers.orNone(parsers.anyText),
    of: CHECKED,
    offers: "files",
  }),
  tlsKey: setting({
    fallback: "none",
    meaning: "private key of the certificate (PEM file)",
    parse: parsers.orNone(parsers.anyText),
    of: CHECKED,
    offers: "files",
  }),
  watch: setting({
    fallback: "on",
    meaning: "whether to import files from the inbox: on or off",
    parse: parsers.onOff,
    of: SERVER,
    offers: ["on", "off"],
  }),
  ingestMemory: setting({
    fallback: "auto",
    meaning: "memory for DuckDB to import a large file; auto: 2 GB, or less if less memory is available",
    parse: parsers.orAuto(parsers.size),
    of: [...INBOX, "doctor"],
  }),
  maxDrop: setting({
    fallback: "10GB",
    meaning: "largest file imported from the inbox; a larger one is refused",
    parse: parsers.bytes,
    of: INBOX,
  }),
  ingestSpill: setting({
    fallback: "20GB",
    meaning: "disk space for spilling during an import",
    parse: parsers.size,
    of: INBOX,
  }),
  maxFileRows: setting({
    fallback: "50000000",
    meaning: "maximum number of rows in a file; one with more is refused",
    parse: parsers.fileRows,
    of: FILES,
  }),
  maxUnpacked: setting({
    fallback: "16GB",
    meaning: "largest unpacked size of a file; above 1 GB, also limited to 64 times the file's size",
    parse: parsers.bytes,
    of: FILES,
  }),
  strict: setting({
    fallback: "off",
    meaning: "whether to refuse files with rows that cannot be true: on or off",
    parse: parsers.onOff,
    of: INBOX,
    offers: ["on", "off"],
    bare: "on",
  }),
  keepVersions: setting({
    fallback: "50",
    meaning: "number of newest versions always kept",
    parse: parsers.wholeNumber(1, 1_000_000),
    of: INBOX,
  }),
  retention: setting({
    fallback: "90d",
    meaning: "how long the last version of each day is kept; none keeps every version",
    parse: parsers.span,
    of: INBOX,
  }),
} as const;

export type SettingName = keyof typeof SETTINGS;

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

export const settingNamed = (name: SettingName): Pick<Setting<unknown>, "fallback" | "meaning" | "bare"> =>
  SETTINGS[name];

/** The settings that a command has options for, in the order of the table. */
export const settingsOf = (command: Command): readonly SettingName[] =>
  SETTING_NAMES.filter((name) => SETTINGS[name].of.includes(command));

/** The option of a setting, e.g. `--max-limit`. */
export const flagOf = (name: SettingName): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The environment variable of a setting, e.g. `TAPEHOUSE_MAX_LIMIT`. */
export const envOf = (name: SettingName): string =>
  `TAPEHOUSE_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

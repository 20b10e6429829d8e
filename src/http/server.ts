// Starts and stops the server. It opens the lake, follows new versions and listens; when it stops, responses in
// progress have some time to finish.
import type { AddressInfo } from "node:net";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { ServerConfig } from "../config.js";
import { bytesOf } from "../setting-values.js";
import { openCopyStore } from "../copies/store.js";
import { createAdjustments } from "../engine/adjust.js";
import { createHistory } from "../engine/changes.js";
import { createCalendars } from "../engine/calendars.js";
import { createGapFinder } from "../engine/gaps.js";
import { openReader } from "../engine/reader.js";
import { createStatistics } from "../engine/statistics.js";
import type { Mark as LakeMark } from "../lake/continuity.js";
import { createIntegrity } from "../lake/integrity.js";
import { openCopiesFolder } from "../lake/copies-folder.js";
import { type OpenOptions, openLake } from "../lake/lake.js";
import { type TokenOptions, openTokens } from "../lake/tokens.js";
import { makeOwnFolder } from "../files.js";
import { openSegmentStore } from "../segments/store.js";
import { createClusterUse } from "../sql/cluster-use.js";
import { openSqlPool } from "../sql/pool.js";
import { openThreads } from "../threads/pool.js";
import { createApp, routedByPath } from "./app.js";
import { ALL_RUNS, type Background, type Context } from "./context.js";
import { type EndOptions, prepareEnd } from "./ending.js";
import { createFollower, createPoll } from "./follow.js";
import { createTokenAdmission } from "./limits.js";
import { createListener } from "./listener.js";
import { type ProcessMetrics, createMetrics } from "./metrics.js";
import { openLog } from "./observe.js";
import { warmUp } from "./warm.js";
import { type Port, cannotListen, openPort } from "./port.js";

export interface RunningServer {
  /** E.g. `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly context: Context;
  /** Stops listening, ends what runs, closes DuckDB. Without `options`, responses in progress are cut. */
  close(options?: EndOptions): Promise<void>;
}

/** Milliseconds that a process may spend on getting ready for its first request. */
const WARM_WITHIN = 800;

/** How often the server checks for a new version and changed tokens, in milliseconds. */
const FOLLOW_EVERY = 200;

export type { LakeMark };

/** Options set by the process that runs the server. */
interface ServerHooks {
  /** An open port; by default the one in the settings is opened. */
  readonly port?: Port;
  /** A spill folder that no other process uses; by default the one in the settings. */
  readonly spill?: string;
  /** What other processes have served, and whether to wait if the directory does not continue from there. */
  readonly lake?: OpenOptions;
  /** Whether other processes have read a token file, and what to call when this one has. */
  readonly tokens?: Pick<TokenOptions, "wasThere" | "onThere">;
  /** Whether the first request should be as fast as the next ones. */
  readonly warms?: boolean;
  /** The program of threads; by default the one beside this one. */
  readonly threadEntry?: URL;
  /** The program of processes that run SQL; by default the one beside this one. */
  readonly sqlEntry?: URL;
  /** Called at the start and whenever a newer version is open. */
  readonly onMark?: (mark: LakeMark) => void;
  /** The metrics of all processes that serve; by default only those of this process. */
  readonly gatherMetrics?: () => Promise<readonly ProcessMetrics[]>;
  /** What other processes do for this one; by default all that is needed. */
  readonly background?: () => Background;
}

/** The processes of SQL share what is for all of them. */
function sqlLimits({ sqlProcesses, sqlMemory, sqlSpill, queue, cluster }: ServerConfig) {
  const part = (size: string): string =>
    `${Math.max(1, Math.floor(bytesOf(size) / Math.max(1, sqlProcesses) / 1e6))}MB`;
  return {
    processes: sqlProcesses,
    queue,
    memory: part(sqlMemory),
    spill: part(sqlSpill),
    threads: availableParallelism(),
    cluster,
  };
}

/** `write` gets each line of the log. */
export async function startServer(
  config: ServerConfig,
  write: (line: string) => void,
  hooks: ServerHooks = {},
): Promise<RunningServer> {
  const log = openLog(config.logLevel, write);
  // The threads start while long lists are read.
  const onThreadEnd = (reason: string): void => log.warn({ reason }, "a thread that encodes responses ended");
  const threads = openThreads(config.encoders, onThreadEnd, hooks.threadEntry);
  const lake = await openLake(config.data, hooks.lake).catch(async (error: unknown) => {
    await threads.close();
    throw error;
  });
  const integrity = createIntegrity(lake.layout, lake.requireState);
  await makeOwnFolder(config.temp);
  const copies = openCopyStore(await openCopiesFolder(config), threads.encoderOf);
  const reader = await openReader({
    copies,
    readable: { folder: lake.layout.lake },
    memory: config.memory,
    tempDirectory: hooks.spill ?? config.temp,
    spill: config.spill,
    threads: 1,
    concurrency: config.concurrency,
    streams: config.streams,
    queue: config.queue,
    integrity,
  });
  const tokens = await openTokens(lake.layout.tokens, {
    staticToken: config.staticToken,
    onFault: (fault) => log.warn(fault),
    requireState: lake.requireState,
    ...hooks.tokens,
  });
  const calendars = createCalendars(reader);
  const now = (): Date => new Date();
  const gaps = createGapFinder(reader, calendars, now);
  const adjustments = createAdjustments(reader);
  const statistics = createStatistics(reader);
  const history = createHistory(reader);
  const pool = openSqlPool({ ...sqlLimits(config), tempDirectory: hooks.spill ?? config.temp, entry: hooks.sqlEntry });
  const onAway = (reason: string): void => log.warn({ reason }, "the cluster cannot answer");
  const sql = { pool, lake, integrity, cluster: createClusterUse(config, now, onAway) };
  const segments = await openSegmentStore(join(config.temp, "segments"), config.cache);
  const metrics = createMetrics({ lake, reader, cache: segments.figures, copies: copies.figures, now });
  const gatherMetrics = hooks.gatherMetrics ?? (async () => [await metrics.collect()]);
  const context: Context = {
    ...{ config, lake, reader, calendars, gaps, adjustments, statistics, history, sql, tokens, integrity, segments },
    tokenAdmission: createTokenAdmission(config),
    ...{ now, log, metrics, gatherMetrics, background: hooks.background ?? (() => ALL_RUNS) },
  };
  const { server, refresh: refreshCertificate } = await createListener(
    config,
    context,
    routedByPath(createApp(context)),
  );
  await threads.ready();
  if (hooks.warms) await warmUp(context, WARM_WITHIN);
  const end = prepareEnd(server);
  const open = hooks.port ?? (await openPort(config.host, config.port));
  await new Promise<void>((resolve, reject) => {
    server.once("error", ({ code }: NodeJS.ErrnoException) => reject(cannotListen(config.host, config.port, code!)));
    server.listen(open, resolve);
  });

  const poll = createPoll(log, {
    "cannot poll for a new version": createFollower(lake, log, hooks.onMark ?? (() => undefined)),
    "cannot read the token file": tokens.refresh,
    "cannot load the new certificate": refreshCertificate,
  });
  await poll();
  let following = Promise.resolve();
  const timer = setInterval(() => {
    following = following.then(poll);
  }, FOLLOW_EVERY);

  const { port } = server.address() as AddressInfo;
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  return {
    url: `${config.tls ? "https" : "http"}://${host}:${port}`,
    context,
    async close(options = { within: 0 }) {
      await end(options);
      clearInterval(timer);
      await following;
      await pool.close();
      await reader.close();
      await threads.close();
    },
  };
}

// The server's metrics for Prometheus. Each process counts its own; they are merged when they are requested.
import {
  type Aggregator,
  AggregatorRegistry,
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
  collectDefaultMetrics,
} from "prom-client";
import type { CopyFigures } from "../copies/store.js";
import type { Reader } from "../engine/reader.js";
import type { ProblemCode } from "../errors.js";
import { stampAt } from "../files.js";
import { readDeltaState } from "../lake/delta-state.js";
import { openInbox } from "../lake/inbox-files.js";
import type { Lake } from "../lake/lake.js";
import { type LedgerEntry, latestEntries, readLedger } from "../lake/ledger.js";
import type { StoreFigures } from "../segments/store.js";
import type { RequestMetrics } from "./observe.js";

/** The metrics of one process, as data that can be sent to another process. */
export type ProcessMetrics = readonly MetricObjectWithValues<MetricValue<string>>[];

/** Sources of figures that are computed on request. */
interface MetricSources {
  readonly lake: Lake;
  readonly reader: Pick<Reader, "load">;
  readonly cache: () => StoreFigures;
  readonly copies: () => CopyFigures;
  readonly now: () => Date;
}

export interface Metrics extends RequestMetrics {
  /** Counts a connection that never became a request. */
  refuse(code: ProblemCode): void;
  collect(): Promise<ProcessMetrics>;
}

/** Seconds: from a response in memory to the longest download. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 1, 5, 30, 120, 600];

export function createMetrics({ lake, reader, cache, copies, now }: MetricSources): Metrics {
  const registers = [new Registry()];
  collectDefaultMetrics({ register: registers[0]! });

  const where = ["route", "entity"] as const;
  const requests = new Counter({
    name: "tapehouse_requests_total",
    help: "Finished requests by HTTP status; none if the connection ended before a response began.",
    labelNames: [...where, "status"],
    registers,
  });
  const cut = new Counter({
    name: "tapehouse_requests_cut_total",
    help: "Requests whose client did not receive the complete response.",
    labelNames: where,
    registers,
  });
  const seconds = new Histogram({
    name: "tapehouse_request_seconds",
    help: "Time from a request to the last byte of its response.",
    labelNames: where,
    buckets: BUCKETS,
    registers,
  });
  const stageSeconds = new Histogram({
    name: "tapehouse_stage_seconds",
    help: "Time of each stage: auth, plan, first (up to the first byte), send.",
    labelNames: ["entity", "stage"],
    buckets: BUCKETS,
    registers,
  });
  const rows = new Counter({ name: "tapehouse_rows_total", help: "Rows sent.", labelNames: ["entity"], registers });
  const bytes = new Counter({ name: "tapehouse_bytes_total", help: "Bytes sent.", labelNames: where, registers });
  const running = new Gauge({ name: "tapehouse_requests_running", help: "Requests in progress.", registers });
  const refused = new Counter({
    name: "tapehouse_refused_total",
    help: "Connections that never became a request, by problem code.",
    labelNames: ["code"],
    registers,
  });

  const gauge = (name: string, help: string, value: () => number | Promise<number>, aggregator: Aggregator = "sum") =>
    new Gauge({
      name,
      help,
      aggregator,
      registers,
      async collect() {
        this.set(await value());
      },
    });
  const total = (name: string, help: string, value: () => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(value());
      },
    });
  gauge("tapehouse_streams_open", "Responses that hold a slot.", () => reader.load().streams.active);
  gauge("tapehouse_streams_waiting", "Responses that wait for a slot.", () => reader.load().streams.waiting);
  gauge("tapehouse_statements_working", "Running queries.", () => reader.load().statements.active);
  gauge("tapehouse_statements_waiting", "Waiting queries.", () => reader.load().statements.waiting);
  total("tapehouse_cache_hits_total", "Segments found in the cache.", () => cache().hits);
  total("tapehouse_cache_misses_total", "Segments not found in the cache.", () => cache().misses);
  gauge("tapehouse_cache_entries", "Segments in the cache.", () => cache().entries);
  gauge("tapehouse_cache_bytes", "Bytes in the cache.", () => cache().bytes);
  new Counter({
    name: "tapehouse_scans_total",
    help: "Scans that serving copies can give, by where their rows came from: copies, parquet or both.",
    labelNames: ["source"],
    registers,
    collect() {
      this.reset();
      for (const source of ["copies", "parquet", "both"] as const) this.inc({ source }, copies()[source]);
    },
  });
  total("tapehouse_damaged_copies_total", "Serving copies removed because they were damaged.", () => copies().damaged);
  let kept = 0;
  /** If the data directory is unavailable or damaged, the last known number: the other figures are still wanted. */
  const versions = async (): Promise<number> => {
    kept = await lake.versions().then(
      ({ length }) => length,
      () => kept,
    );
    return kept;
  };
  gauge("tapehouse_versions", "Kept versions of the lake.", versions, "max");
  const age = (): number => {
    const { sequence, data_version } = lake.mark();
    return sequence === 0 ? 0 : (now().getTime() - Date.parse(data_version)) / 1000;
  };
  gauge("tapehouse_version_age_seconds", "Time since the served version was published.", age, "max");
  const drops = createDropsCounter(lake);
  gauge("tapehouse_drops_refused", "Refused files in the inbox.", () => drops("refused"), "max");
  gauge("tapehouse_drops_withdrawn", "Files in the inbox whose rows were taken back.", () => drops("withdrawn"), "max");
  const failures = async (): Promise<number> => (await readDeltaState(lake.layout).catch(() => null))?.failures ?? 0;
  gauge("tapehouse_delta_failures", "Times that the Delta tables could not be written.", failures, "max");

  return {
    begin: () => running.inc(),
    end(seen) {
      running.dec();
      const entity = seen.entity ?? "";
      const labels = { route: seen.route ?? "", entity };
      requests.inc({ ...labels, status: seen.status ?? "none" });
      if (seen.cut) cut.inc(labels);
      seconds.observe(labels, seen.ms / 1000);
      for (const stage in seen.stages) stageSeconds.observe({ entity, stage }, seen.stages[stage]! / 1000);
      if (seen.rows > 0) rows.inc({ entity }, seen.rows);
      bytes.inc(labels, seen.bytes);
    },
    refuse: (code) => refused.inc({ code }),
    collect: () => registers[0]!.getMetricsAsJSON(),
  };
}

/** The metrics of several processes, in Prometheus's text format. */
export function renderMetrics(processes: readonly ProcessMetrics[]): Promise<string> {
  return AggregatorRegistry.aggregate([...processes]).metrics();
}

const COUNTS: ReadonlySet<string> = new Set(["counter", "histogram", "summary"]);

/**
 * Adds up the counters of several processes, without gauges. Those of processes that have ended must be included:
 * otherwise every sum would fall when a process dies, as if the server had restarted.
 */
export function addUp(processes: readonly ProcessMetrics[]): Promise<ProcessMetrics> {
  const counts = processes.map((metrics) => metrics.filter(({ type }) => COUNTS.has(String(type))));
  return AggregatorRegistry.aggregate(counts).getMetricsAsJSON();
}

/** Counts the files in the inbox with an outcome. The ledger is read again only when it has changed. */
function createDropsCounter({
  layout,
  faults,
}: Pick<Lake, "layout" | "faults">): (outcome: "refused" | "withdrawn") => Promise<number> {
  let seen = "";
  let entries: readonly LedgerEntry[] = [];
  const counted = { refused: 0, withdrawn: 0 };
  return async (outcome) => {
    // If the inbox is unavailable, its files may still exist.
    if (faults().state !== null) return counted[outcome];
    const now = await stampAt(layout.ledger);
    if (now !== seen) {
      entries = latestEntries(await readLedger(layout.ledger)).filter((entry) => entry.outcome in counted);
      seen = now;
    }
    const wanted = entries.filter((entry) => entry.outcome === outcome);
    const isInInbox = wanted.length === 0 ? null : await openInbox(layout).catch(() => null);
    if (isInInbox === null) return (counted[outcome] = Math.min(counted[outcome], wanted.length));
    const unchanged = await Promise.all(wanted.map(isInInbox));
    return (counted[outcome] = unchanged.filter(Boolean).length);
  };
}

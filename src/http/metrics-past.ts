// What processes that are gone have counted: without it every sum would fall when one dies, as if the server had begun anew.
import { AggregatorRegistry } from "prom-client";
import type { ProcessMetrics } from "./metrics.js";

const COUNTS: ReadonlySet<string> = new Set(["counter", "histogram", "summary"]);

/** The counts of several processes as those of one. Gauges, which tell how things stand, are left out. */
export function addUp(processes: readonly ProcessMetrics[]): Promise<ProcessMetrics> {
  const counts = processes.map((metrics) => metrics.filter(({ type }) => COUNTS.has(String(type))));
  return AggregatorRegistry.aggregate(counts).getMetricsAsJSON();
}

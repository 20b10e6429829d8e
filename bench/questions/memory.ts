// How much memory do the processes of a server take together, at most, while all of `daily` is pulled?
import { setTimeout as sleep } from "node:timers/promises";
import { lakeOf } from "../harness/lakes.js";
import { servePeer } from "../harness/peers.js";
import type { Memory } from "../harness/processes.js";
import { pullTogether } from "../harness/pull.js";
import type { Question, Row } from "../harness/question.js";
import { urlsOf, type Format } from "../harness/selection.js";
import { serveTapehouse, withServers, type BenchServer } from "../harness/servers.js";
import { round } from "../harness/turns.js";

const CLIENTS = [1, 4] as const;
/** Milliseconds between two looks: each takes the kernel a few milliseconds. */
const PAUSE = 50;

/** The greatest values while `work` runs. */
async function peakDuring(server: BenchServer, work: Promise<unknown>): Promise<Memory> {
  let peak = server.memory();
  let isRunning = true;
  const ended = work.finally(() => (isRunning = false));
  while (isRunning) {
    await Promise.race([ended, sleep(PAUSE)]);
    const { resident, proportional } = server.memory();
    peak = {
      resident: Math.max(peak.resident, resident),
      proportional: Math.max(peak.proportional, proportional),
    };
  }
  return peak;
}

const SERVERS = {
  tapehouse: (lake: string) => serveTapehouse(lake),
  "tapehouse, nothing kept": (lake: string) => serveTapehouse(lake, { keeping: false }),
  chdb: () => servePeer("chdb"),
  polars: () => servePeer("polars"),
} as const;

/** A new server pulls as often as there are tries, so that its caches are full at the end. */
async function answer(
  name: keyof typeof SERVERS,
  lake: string,
  format: Format,
  tries: number,
): Promise<readonly Row[]> {
  const urls = urlsOf(lake, { entity: "daily" }, format);
  const urlOf = { ...urls, "tapehouse, nothing kept": urls.tapehouse }[name];
  return withServers({ server: SERVERS[name](lake) }, async ({ server }) => {
    const rows: Row[] = [];
    const before = server.memory();
    for (const clients of CLIENTS) {
      const asked = Array<string>(clients).fill(urlOf(server));
      const peaks: Memory[] = [];
      for (let i = 0; i < tries; i++) peaks.push(await peakDuring(server, pullTogether(asked, clients)));
      const peak = (of: (memory: Memory) => number): number => round(Math.max(...peaks.map(of)) / 1e6);
      rows.push({
        server: name,
        clients,
        "MB before (PSS)": round(before.proportional / 1e6),
        "peak MB (PSS)": peak(({ proportional }) => proportional),
        "peak MB (RSS)": peak(({ resident }) => resident),
      });
    }
    return rows;
  });
}

export const memory: readonly Question[] = (["json", "arrow"] as const).map((format) => ({
  name: `memory ${format}`,
  async answer({ days, tries }) {
    const lake = await lakeOf(days);
    const names = (Object.keys(SERVERS) as (keyof typeof SERVERS)[]).filter(
      (name) => name !== "polars" || format === "arrow",
    );
    const rows: Row[] = [];
    for (const name of names) rows.push(...(await answer(name, lake, format, tries)));
    return rows;
  },
}));

// How fast is a wide pull as JSON, against a hand-written handler over the same files?
import { demoLake, inTurn, median, pull, report, servePeer, serveTapehouse, TOKEN } from "./harness.js";

const lake = await demoLake(5000, 250);
const ours = await serveTapehouse(lake);
const plain = await servePeer("plain-handler.ts", [`${lake}/lake/daily/*.parquet`]);
try {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  const meta = (await (await fetch(`${ours.url}/api/v1/meta`, { headers })).json()) as {
    entities: { daily: { rows: number } };
  };
  const rowCount = meta.entities.daily.rows;
  const results = await inTurn(
    {
      tapehouse: () => pull(`${ours.url}/api/v1/entities/daily`),
      "plain handler": () => pull(`${plain.url}/daily`),
    },
    5,
  );
  const rate = (name: string): number => rowCount / median(results[name]!.map((one) => one.total));
  const servers = { tapehouse: ours, "plain handler": plain };
  await report(
    "wide JSON",
    Object.entries(servers).map(([name, server]) => ({
      server: name,
      rows: rowCount,
      "rows/s": Math.round(rate(name)),
      "MB/s": Math.round((rate(name) * results[name]![0]!.bytes) / rowCount / 1e6),
      "first byte ms": Math.round(median(results[name]!.map((one) => one.firstByte)) * 1000),
      "peak MB": Math.round(server.peakMemory() / 1e6),
      "ratio to plain": Number((rate(name) / rate("plain handler")).toFixed(2)),
    })),
  );
} finally {
  await ours.stop();
  await plain.stop();
}

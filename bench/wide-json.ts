// How fast is a wide pull as JSON, against a hand-written handler over the same files?
import { demoLake, inTurn, median, pull, report, servePeer, serveTapehouse } from "./harness.js";

const ROWS = 1_000_000;
const lake = await demoLake(5000, 250);
const ours = await serveTapehouse(lake);
const plain = await servePeer("plain-handler.ts", [`${lake}/lake/daily/*.parquet`]);
try {
  const results = await inTurn(
    {
      tapehouse: () => pull(`${ours.url}/api/v1/entities/daily?limit=${ROWS}`),
      "plain handler": () => pull(`${plain.url}/daily?limit=${ROWS}`),
    },
    5,
  );
  const rate = (name: string): number => ROWS / median(results[name]!.map((one) => one.total));
  const servers = { tapehouse: ours, "plain handler": plain };
  await report(
    `wide JSON, ${ROWS} rows`,
    Object.entries(servers).map(([name, server]) => ({
      server: name,
      "rows/s": Math.round(rate(name)),
      "MB/s": Math.round((rate(name) * results[name]![0]!.bytes) / ROWS / 1e6),
      "first byte ms": Math.round(median(results[name]!.map((one) => one.firstByte)) * 1000),
      "peak MB": Math.round(server.peakMemory() / 1e6),
      "ratio to plain": Number((rate(name) / rate("plain handler")).toFixed(2)),
    })),
  );
} finally {
  await ours.stop();
  await plain.stop();
}

// The cluster, as the doctor sees it: it answers, and it reads the data files of the served version.
import { ENTITIES } from "../../catalog/index.js";
import type { ServerConfig } from "../../config.js";
import { reasonOf } from "../../errors.js";
import { openLake, type Lake } from "../../lake/lake.js";
import { filesForCluster, tablesOf } from "../../sql/files.js";
import { ok, shell, wrong, type Finding } from "./finding.js";

/** Milliseconds for both questions together. */
const WITHIN = 30_000;

/** Nothing if no cluster is configured; `data` is a folder that can be read, or null. */
export async function checkCluster(
  { cluster: target, clusterData }: Pick<ServerConfig, "cluster" | "clusterData">,
  data: string | null,
  now: Date,
): Promise<readonly Finding[]> {
  if (target === null) return [];
  const { openCluster } = await import("../../cluster/cluster.js");
  const cluster = openCluster(target);
  const signal = AbortSignal.timeout(WITHIN);
  try {
    const tables = data === null ? [] : await smallTable(await openLake(data), clusterData);
    const limits = { deadline: now.getTime() + WITHIN, signal };
    const { batches } = await cluster.run(
      { sql: "SELECT version() AS version", args: {}, tables, limit: null },
      limits,
    );
    let version = "";
    for await (const batch of batches) version = String(batch.getChildAt(0)!.get(0));
    const seen = tables.map(({ name }) => `, and reads ${name}`).join("");
    return [ok("cluster", `${target} answers, as Spark ${version.split(" ")[0]}${seen}`)];
  } catch (error) {
    return [
      wrong("cluster", {
        found: reasonOf(error),
        expected: `a Spark Connect server at ${target} whose workers can read the data files`,
        way: shell("tapehouse", "doctor", "--cluster", `sc://${target}`, "--cluster-data", "/path/of/data"),
      }),
    ];
  } finally {
    await cluster.close();
  }
}

/** The entity with the fewest bytes, as a table; none if there are no rows. */
async function smallTable(lake: Lake, data: string | null) {
  const snapshot = lake.opened();
  if (snapshot === null) return [];
  const bytesOf = (name: string): number => snapshot.files(name).byDate.reduce((sum, { bytes }) => sum + bytes, 0);
  const [smallest] = ENTITIES.map(({ name }) => ({ name, bytes: bytesOf(name) }))
    .filter(({ bytes }) => bytes > 0)
    .sort((a, b) => a.bytes - b.bytes);
  if (smallest === undefined) return [];
  const { files } = await filesForCluster({ data }, lake, snapshot, [smallest.name]);
  return tablesOf([smallest.name], files);
}

// One statement from its text to the bytes of its rows: read, allowed, placed on a side, run, and ended with its files checked.
import type { Integrity } from "../lake/integrity.js";
import type { Lake, Snapshot } from "../lake/lake.js";
import type { SqlRequest } from "../query/sql-request.js";
import type { ClusterUse } from "./cluster-use.js";
import { filesForCluster, holdFiles } from "./files.js";
import type { Answering, Asked, Side } from "./messages.js";
import type { SqlPool } from "./pool.js";

/** What runs the statements of a process. */
export interface SqlService {
  readonly pool: SqlPool;
  readonly lake: Lake;
  readonly integrity: Integrity;
  readonly cluster: ClusterUse;
}

export interface StatementOptions {
  readonly asked: Asked;
  readonly engine: SqlRequest["engine"];
  readonly snapshot: Snapshot;
  readonly answering: Answering;
  /** Called with the entities that the statement reads; throws if that is not allowed. */
  readonly allow: (entities: readonly string[]) => void;
  /** Called with the number of rows so far. */
  readonly onRows: (rows: number) => void;
}

/** A statement whose first rows are there. */
export interface Answer {
  /** Where it runs. */
  readonly side: Side;
  /** Whether rows are left out; null if that is known only at the end. */
  readonly truncated: boolean | null;
  /** The body. It ends without an error only if it is whole. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

/**
 * Runs a statement, and `use` with its answer. Rejects with a problem if the statement cannot be answered. What the cluster
 * declines runs here, if the request and the settings let it.
 */
export async function withStatement<T>(
  { pool, lake, integrity, cluster }: SqlService,
  { asked, engine, snapshot, answering, allow, onRows }: StatementOptions,
  signal: AbortSignal,
  use: (answer: Answer) => Promise<T>,
): Promise<T> {
  cluster.require(engine);
  const session = await pool.open(signal);
  try {
    const entities = await session.read(asked);
    allow(entities);
    const answerOn = async (side: Side): Promise<T | typeof DECLINED> => {
      const held =
        side === "local"
          ? await holdFiles(integrity, snapshot, entities)
          : await filesForCluster(cluster, lake, snapshot, entities);
      try {
        const begun = await session.run(side, held.files, answering);
        if (!("truncated" in begun)) {
          cluster.declined(engine, begun);
          return DECLINED;
        }
        if (side === "cluster") cluster.answered();
        return await use({ side, ...begun, pieces: held.thenCheck(session.pieces(onRows)) });
      } finally {
        held.leave();
      }
    };
    const side = cluster.sideOf(engine, () => entities.flatMap((name) => snapshot.files(name).byDate));
    const answer = await answerOn(side);
    return answer === DECLINED ? ((await answerOn("local")) as T) : answer;
  } finally {
    session.close();
  }
}

const DECLINED = Symbol("the cluster declined");

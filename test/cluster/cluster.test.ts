// A query on a cluster gives a whole result or an error: whatever is slow, away, or lost meanwhile.
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import type { Schema } from "apache-arrow";
import { beforeAll, describe, expect, test } from "vitest";
import { openCluster, type Cluster, type ClusterQuery, type QueryLimits } from "../../src/cluster/cluster.js";
import type { ClusterTable } from "../../src/cluster/views.js";
import { parsers } from "../../src/setting-values.js";
import { duckdbInMemory } from "../support/duckdb.js";
import { temporaryFolder } from "../support/folders.js";
import { until } from "../support/processes.js";
import { hasSail, startSail, stop, type Sail } from "../support/sail.js";

const ROWS = 400_000;

const duckdb = duckdbInMemory({ threads: "1" });

let table: ClusterTable;

beforeAll(async () => {
  const file = `${await temporaryFolder()}/rows.parquet`;
  const rows = `SELECT i::VARCHAR AS code, DATE '2024-01-01' + (i % 100)::INT AS day, i / 7 AS x, i AS n FROM range(${ROWS}) t(i)`;
  await duckdb.connection.run(`COPY (${rows}) TO '${file}' (FORMAT parquet)`);
  const columns = [
    { name: "code", type: "code" },
    { name: "day", type: "date" },
    { name: "x", type: "float64" },
    { name: "n", type: "int64" },
  ] as const;
  table = { name: "rows", columns, files: [file], rows: ROWS };
});

const withinMinutes = (signal = new AbortController().signal): QueryLimits => ({
  deadline: Date.now() + 120_000,
  signal,
});

const query = (sql: string, files = table.files): ClusterQuery => ({
  sql,
  args: {},
  limit: null,
  tables: [{ ...table, files, rows: files.length * ROWS }],
});

const COUNT = () => query("SELECT count(1) AS n FROM `rows`");
const ALL = () => query("SELECT `code`, `n` FROM `rows` ORDER BY `n` ASC");
/** It would take many minutes. */
const ENDLESS = () => query("SELECT sum(a.x * b.x) AS s FROM `rows` a CROSS JOIN `rows` b");

async function collect(cluster: Cluster, asked: ClusterQuery, limits = withinMinutes(), onRow?: () => void) {
  const { schema, batches } = await cluster.run(asked, limits);
  const values: unknown[][] = [];
  for await (const batch of batches) {
    for (let row = 0; row < batch.numRows; row++)
      values.push(schema.fields.map((_, i) => batch.getChildAt(i)!.get(row) as unknown));
    onRow?.();
  }
  return { names: namesOf(schema), values };
}

const namesOf = (schema: Schema) => schema.fields.map(({ name, type }) => `${name} ${String(type)}`);

/** Runs with a cluster that is closed in the end. */
async function using(address: string, work: (cluster: Cluster) => Promise<void>): Promise<void> {
  const cluster = openCluster(parsers.cluster(address, "--cluster"));
  try {
    await work(cluster);
  } finally {
    await cluster.close();
  }
}

describe("without a cluster", () => {
  test("a cluster that is away is reported at once, without paths and stack traces", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    await using(`sc://127.0.0.1:${port}`, async (cluster) => {
      await expect(cluster.run(COUNT(), withinMinutes())).rejects.toMatchObject({
        failure: "unavailable",
        message: `the cluster 127.0.0.1:${port} is not available (connect ECONNREFUSED 127.0.0.1:${port}); check that it runs`,
      });
    });
  });

  test("a server that never answers is given up at the deadline", async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => void sockets.push(socket)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await using(`sc://127.0.0.1:${port}`, async (cluster) => {
      const limits = { ...withinMinutes(), deadline: Date.now() + 500 };
      await expect(cluster.run(COUNT(), limits)).rejects.toMatchObject({ failure: "deadline" });
    });
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
});

describe.runIf(hasSail)("a cluster of one process", () => {
  let sail: Sail;
  beforeAll(async () => {
    sail = await startSail();
  });

  test("reads the files of a table with the given types", async () => {
    await using(sail.address, async (cluster) => {
      const { names, values } = await collect(
        cluster,
        query("SELECT * FROM `rows` WHERE n >= 0 ORDER BY n ASC LIMIT 2"),
      );
      expect(names).toEqual(["code Utf8", "day Date32<DAY>", "x Float64", "n Int64"]);
      const day = Date.UTC(2024, 0, 1);
      expect(values).toEqual([
        ["0", day, 0, 0n],
        ["1", day + 86_400_000, 1 / 7, 1n],
      ]);
    });
  });

  test("has columns for a table without files", async () => {
    await using(sail.address, async (cluster) => {
      const { names, values } = await collect(cluster, query("SELECT day, count(n) AS c FROM `rows` GROUP BY day", []));
      expect(names).toEqual(["day Date32<DAY>", "c Int64"]);
      expect(values).toEqual([]);
    });
  });

  test("gets values apart from the SQL", async () => {
    const text = "it's \\ :a ` \" 中";
    const args = { a: { string: text }, b: { long: 7 }, c: { double: 0.5 }, d: { boolean: true } };
    await using(sail.address, async (cluster) => {
      const { values } = await collect(cluster, {
        sql: "SELECT :a AS a, :b AS b, :c AS c, :d AS d",
        args,
        tables: [],
        limit: null,
      });
      expect(values).toEqual([[text, 7n, 0.5, true]]);
    });
  });

  test("streams a result of many batches whole and in order", async () => {
    await using(sail.address, async (cluster) => {
      const { values } = await collect(cluster, ALL());
      expect(values).toHaveLength(ROWS);
      expect(values.every(([code, n], i) => n === BigInt(i) && code === String(i))).toBe(true);
    });
  });

  test("computes no more rows than a limit asks for", async () => {
    await using(sail.address, async (cluster) => {
      const { values } = await collect(cluster, { ...ALL(), sql: ALL().sql.replace("ASC", "DESC"), limit: 2 });
      expect(values).toEqual([ROWS - 1, ROWS - 2].map((n) => [String(n), BigInt(n)]));
    });
  });

  test("keeps the tables of queries that run together apart", async () => {
    await using(sail.address, async (cluster) => {
      const answers = await Promise.all(
        [COUNT(), query(COUNT().sql, []), COUNT()].map((each) => collect(cluster, each)),
      );
      expect(answers.map(({ values }) => values)).toEqual([[[BigInt(ROWS)]], [[0n]], [[BigInt(ROWS)]]]);
    });
  });

  test("explains in one line what fails", async () => {
    await using(sail.address, async (cluster) => {
      await expect(collect(cluster, query("SELECT n / (n - n) AS x FROM `rows`"))).rejects.toMatchObject({
        failure: "failed",
        message: "the cluster reports: Division by zero; divide by nullif(x, 0) to get a null instead",
      });
    });
  });

  test("refuses to answer if it does not see all files", async () => {
    await using(sail.address, async (cluster) => {
      const partly = query(COUNT().sql, [...table.files, "/nowhere/secret/rows.parquet"]);
      await expect(collect(cluster, partly)).rejects.toMatchObject({
        failure: "incomplete",
        message:
          "the cluster sees 400,000 of 800,000 rows of rows: check that all of its workers can read the data files",
      });
    });
  });

  test("is asked once more if the connection is cut before the first rows", async () => {
    const [host, port] = sail.address.slice("sc://".length).split(":") as [string, string];
    let connections = 0;
    const proxy = createServer((socket) => {
      const isFirst = ++connections === 1;
      const upstream = connect(Number(port), host);
      for (const [from, to] of [
        [socket, upstream],
        [upstream, socket],
      ] as const) {
        from.on("error", () => to.destroy()).on("close", () => to.destroy());
        from.on("data", (bytes) => (isFirst && from === upstream ? socket.destroy() : to.write(bytes)));
      }
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    await using(`sc://127.0.0.1:${(proxy.address() as AddressInfo).port}`, async (cluster) => {
      expect((await collect(cluster, COUNT())).values).toEqual([[BigInt(ROWS)]]);
    });
    expect(connections).toBeGreaterThan(1);
    proxy.close();
  });

  test("stops when the signal is given: before the first row, and between rows", async () => {
    await using(sail.address, async (cluster) => {
      const early = new AbortController();
      const unread = collect(cluster, ALL(), withinMinutes(early.signal));
      early.abort(new Error("the client left"));
      await expect(unread).rejects.toThrow("the client left");

      const late = new AbortController();
      const streamed = collect(cluster, ALL(), withinMinutes(late.signal), () =>
        late.abort(new Error("the client left")),
      );
      await expect(streamed).rejects.toThrow("the client left");
    });
  });

  test("ends the query of a reader that stops early", async () => {
    await using(sail.address, async (cluster) => {
      const { batches } = await cluster.run(ALL(), withinMinutes());
      for await (const { numRows } of batches) {
        expect(numRows).toBeGreaterThan(0);
        break;
      }
      expect((await collect(cluster, COUNT())).values).toEqual([[BigInt(ROWS)]]);
    });
  });
});

describe.runIf(hasSail)("a cluster of two workers", () => {
  test("gives up at the deadline or when the signal is given, ends its workers, and serves the next query", async () => {
    const { address, workers } = await startSail("workers");
    await using(address, async (cluster) => {
      const isIdle = () => until("the workers of the query have ended", () => workers.length === 0 || undefined);
      const limits = { ...withinMinutes(), deadline: Date.now() + 15_000 };
      await expect(collect(cluster, ENDLESS(), limits)).rejects.toMatchObject({ failure: "deadline" });
      await isIdle();

      const left = new AbortController();
      const endless = collect(cluster, ENDLESS(), withinMinutes(left.signal));
      await until("both workers are there", () => workers.length === 2 || undefined);
      left.abort(new Error("the client left"));
      await expect(endless).rejects.toThrow("the client left");
      await isIdle();

      expect((await collect(cluster, COUNT())).values).toEqual([[BigInt(ROWS)]]);
    });
  });
});

describe.runIf(hasSail)("a cluster that dies", () => {
  test("in the middle of a result is an error, and is found again when it is back", async () => {
    const { address, server } = await startSail();
    await using(address, async (cluster) => {
      let killed: Promise<void> | undefined;
      const cut = collect(cluster, ALL(), withinMinutes(), () => {
        killed ??= stop(server);
      });
      await expect(cut).rejects.toMatchObject({ failure: "unavailable" });
      await killed;
      await startSail("local", Number(/\d+$/.exec(address)![0]));
      const values = await until("the cluster is found", () =>
        collect(cluster, COUNT()).then(
          (answer) => answer.values,
          () => undefined,
        ),
      );
      expect(values).toEqual([[BigInt(ROWS)]]);
    });
  });

  test("with its workers before the first rows costs nothing but time", async () => {
    const { address, workers } = await startSail("workers");
    await using(address, async (cluster) => {
      const answer = collect(
        cluster,
        query("SELECT `code`, sum(x) AS s FROM `rows` GROUP BY `code` ORDER BY s ASC, `code` ASC"),
      );
      await until("both workers are there", () => workers.length === 2 || undefined);
      for (const worker of [...workers]) worker.kill("SIGKILL");
      expect((await answer).values).toHaveLength(ROWS);
    });
  });

  test("with its workers in the middle of a result is an error, and the next query succeeds", async () => {
    const { address, workers } = await startSail("workers");
    await using(address, async (cluster) => {
      const kill = () => {
        for (const worker of [...workers]) worker.kill("SIGKILL");
      };
      await expect(collect(cluster, ALL(), withinMinutes(), kill)).rejects.toMatchObject({ failure: "unavailable" });
      expect((await collect(cluster, COUNT())).values).toEqual([[BigInt(ROWS)]]);
    });
  });
});

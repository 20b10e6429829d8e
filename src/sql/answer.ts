// Answers one statement: reads it, runs it over the files of a version, and encodes its rows.
import type { RecordBatch } from "apache-arrow";
import { encoderFor } from "../encode/index.js";
import type { Summary } from "../encode/types.js";
import type { Sandbox, SandboxResult } from "../engine/sandbox.js";
import { Problem } from "../errors.js";
import { bodyOf } from "../segments/body.js";
import { PACKERS } from "../segments/packer.js";
import type { TreeNode } from "../sql-tree.js";
import { computed } from "./calls.js";
import { check } from "./check.js";
import { entitiesOf } from "./define.js";
import type { Engine, ReadStatement } from "./engines.js";
import type { Answering, Asked, Files } from "./messages.js";
import { invalidSql } from "./problems.js";

export async function readStatement(sandbox: Sandbox, asked: Asked): Promise<ReadStatement> {
  const sql = withoutEnd(asked.sql);
  const tree = await sandbox.parse(sql);
  const found = check(sql, tree, await sandbox.functions());
  for (const name of found.parameters) {
    if (!Object.hasOwn(asked.parameters, name))
      throw invalidSql(sql, `there is no value for $${name}`, null, "add it to params");
  }
  const unused = Object.keys(asked.parameters).find((name) => !found.parameters.has(name));
  if (unused !== undefined) throw invalidSql(sql, `the statement has no $${unused}`, null, "leave it out of params");
  const compute = (node: TreeNode): Promise<string | null> => sandbox.compute(node, asked.parameters);
  const calls = await Promise.all(found.calls.map((call) => computed(sql, call, compute)));
  const uses = { ...found, calls };
  return { asked: { ...asked, sql }, tree, uses, entities: entitiesOf(sql, uses, asked.parameters) };
}

/** A semicolon at the end is usual, and not part of the statement. */
const withoutEnd = (sql: string): string => sql.replace(/[\s;]+$/, "");

export interface SqlAnswer {
  /** Whether rows were left out; null if that is known only at the end. */
  readonly truncated: boolean | null;
  /** The bytes of the body. Throws a problem if the statement fails, and anything else if the engine does. */
  pieces(): AsyncGenerator<Uint8Array, undefined>;
  /** Rows so far. */
  rows(): number;
  close(): Promise<void>;
}

/** Bytes of a limited answer whose end must be known before it begins. */
const MOST_HELD = 64e6;

/** Runs a statement. Rejects with a problem if that is the fault of its author, and as the engine does. */
export async function answerStatement(
  engine: Engine,
  statement: ReadStatement,
  files: Files,
  answering: Answering,
  signal: AbortSignal,
): Promise<SqlAnswer> {
  const { limit, mostRows } = answering;
  const result = await engine.run(statement, files, answering, signal);
  let [rows, truncated] = [0, false];
  async function* read(): AsyncGenerator<RecordBatch> {
    for await (const batch of result.batches()) {
      const left = (limit ?? Infinity) - rows;
      if (rows + Math.min(batch.numRows, left) > mostRows) throw tooManyRows(mostRows);
      if (batch.numRows > left) truncated = true;
      rows += Math.min(batch.numRows, left);
      if (left > 0) yield batch.numRows > left ? batch.slice(0, left) : batch;
    }
  }
  const body = inRange(encoded(read, result, answering, () => ({ count: rows, truncated, nextCursor: null })));
  const held = answering.endFirst && limit !== null ? await gather(body) : null;
  return {
    truncated: held === null ? null : truncated,
    async *pieces() {
      if (held === null) yield* body;
      else yield* held;
      return undefined;
    },
    rows: () => rows,
    close: () => result.close(),
  };
}

function encoded(
  read: () => AsyncIterable<RecordBatch>,
  { columns }: SandboxResult,
  { dataVersion, format, dates, compression, bom, encoding }: Answering,
  summarise: () => Summary,
): AsyncGenerator<Uint8Array> {
  const encoder = encoderFor(format, { bom, compression })({ entity: "sql", dataVersion, columns, dates });
  return bodyOf([{ read, caching: null }], {
    ...{ encoder, packer: PACKERS[encoding](), store: null },
    onRows: () => undefined,
    summarise,
  });
}

/** Encoders throw RangeError for dates that have no four digits of a year. */
async function* inRange(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Problem("invalid_sql", "the result has a date outside the years 1 to 9999", {
      parameter: "sql",
      hint: "leave it out, or show it as text: day::VARCHAR",
    });
  }
}

async function gather(pieces: AsyncIterable<Uint8Array>): Promise<readonly Uint8Array[]> {
  const held: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    held.push(piece);
    bytes += piece.length;
    if (bytes > MOST_HELD) {
      throw new Problem("out_of_room", `with a limit, a response in this format may have ${MOST_HELD / 1e6} MB`, {
        parameter: "limit",
        hint: "use a smaller limit, none at all, or format=json, which says at its end whether rows are left out",
      });
    }
  }
  return held;
}

const tooManyRows = (most: number): Problem =>
  new Problem("out_of_room", `the result has more than ${most.toLocaleString("en")} rows`, {
    parameter: "sql",
    hint: "aggregate or filter more; wide ranges of rows are faster from /api/v1/entities; the operator can raise --sql-rows",
  });

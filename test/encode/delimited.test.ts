import { expect, test } from "vitest";
import { csvEncoder, ndjsonEncoder } from "../../src/encode/text.js";
import { batchOf, column, partsOf } from "./batches.js";

const columns = [
  column("ts_code", "code"),
  column("trade_date", "date"),
  column("name", "text"),
  column("pe", "float64"),
];
const head = { entity: "daily", dataVersion: "2026-01-05T09:30:00.000+08:00", columns };
const values = [
  ["000001.SZ", null, "600000.SH"],
  [19_724, null, 19_725],
  ['平安"银行"', "", null],
  [0.1 + 0.2, NaN, -0],
];
const summary = { count: 3, truncated: false, nextCursor: null };

function bodyOf(encoder: ReturnType<typeof csvEncoder>): string {
  const batch = batchOf(columns, values);
  const empty = batchOf(columns, [[], [], [], []]);
  return Buffer.concat(partsOf(encoder, [batch, empty], summary)).toString();
}

test("NDJSON is one object a line, and each line parses", () => {
  const body = bodyOf(ndjsonEncoder(head));
  expect(body.endsWith("\n")).toBe(true);
  expect(
    body
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    { ts_code: "000001.SZ", trade_date: "20240102", name: '平安"银行"', pe: 0.30000000000000004 },
    { ts_code: null, trade_date: null, name: "", pe: null },
    { ts_code: "600000.SH", trade_date: "20240103", name: null, pe: 0 },
  ]);
});

test.each([column("pe", "float64"), column("name", "text")])(
  "CSV with the one column $name has no empty line, which many programs skip",
  (one) => {
    const values = one.type === "text" ? ["a", null, ""] : [1.5, null, NaN];
    const body = Buffer.concat(partsOf(csvEncoder({ ...head, columns: [one] }), [batchOf([one], [values])], summary));
    expect(body.toString()).toBe(`${one.name}\n${values[0]!}\n""\n""\n`);
  },
);

test("CSV has a header line and distinguishes missing from empty values", () => {
  expect(bodyOf(csvEncoder(head))).toBe(
    "ts_code,trade_date,name,pe\n" +
      '000001.SZ,20240102,"平安""银行""",0.30000000000000004\n' +
      ',,"",\n' +
      "600000.SH,20240103,,0\n",
  );
});

import type { RecordBatch } from "apache-arrow";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Column, ColumnType } from "../../src/catalog/types.js";
import { kernelRows } from "../../src/encode/rows.js";
import { plainRows } from "../../src/encode/rows-plain.js";
import type { RowStyle } from "../../src/encode/types.js";
import { columnsOf } from "../../src/arrow-data.js";
import { batchOf, column, type Value } from "./batches.js";

const JSON_ROWS = {
  prefix: (_: Column, i: number) => (i === 0 ? "[" : ","),
  suffix: "]\n",
  quoting: "json",
  missing: "null",
} as const;
const JSON_OBJECTS = {
  prefix: (c: Column, i: number) => `${i === 0 ? "{" : ","}${JSON.stringify(c.name)}:`,
  suffix: "}\n",
  quoting: "json",
  missing: "null",
} as const;
const CSV_LINES = {
  prefix: (_: Column, i: number) => (i === 0 ? "" : ","),
  suffix: "\n",
  quoting: "csv",
  missing: "",
} as const;
const CSV_COLUMN = { ...CSV_LINES, missing: '""' } as const;
const FORMATS = {
  "JSON arrays": JSON_ROWS,
  "JSON objects": JSON_OBJECTS,
  CSV: CSV_LINES,
  "CSV of one column": CSV_COLUMN,
};

function styleOf(columns: readonly Column[], format: (typeof FORMATS)[keyof typeof FORMATS]): RowStyle {
  return {
    prefixes: columns.map(format.prefix),
    suffix: format.suffix,
    quoting: format.quoting,
    missing: format.missing,
  };
}

/** A row writer as a function from a batch to text. */
type Writer = (batch: RecordBatch) => string;

function kernel(columns: readonly Column[], style: RowStyle): Writer {
  const write = kernelRows(columns, style);
  if (!write) throw new Error("no WebAssembly here");
  return (batch) => Buffer.from(write(columnsOf(batch), 0, batch.numRows)).toString();
}

function plain(columns: readonly Column[], style: RowStyle): Writer {
  const write = plainRows(columns, style);
  return (batch) => Buffer.from(write(columnsOf(batch), 0, batch.numRows)).toString();
}

const FIRST_DAY = -719_162;
const LAST_DAY = 2_932_896;
const ABSTRACT = `"引言"\t第一段\n${"市场回顾与展望。".repeat(40_000)}\\`; // about 1 MB

/** Values at the edges of each type, with the JSON text they must have. */
const EDGES: Record<ColumnType, readonly (readonly [Value, string])[]> = {
  code: [
    [null, "null"],
    ["000001.SZ", '"000001.SZ"'],
    ["", '""'],
    ['"', '"\\""'],
  ],
  text: [
    [null, "null"],
    ["", '""'],
    ["平安银行", '"平安银行"'],
    ["涨停 🚀👩‍👩‍👧", '"涨停 🚀👩‍👩‍👧"'],
    ['say "buy"\\', '"say \\"buy\\"\\\\"'],
    ["\b\t\n\f\r", '"\\b\\t\\n\\f\\r"'],
    ["\u0000\u001f\u007f\u2028", '"\\u0000\\u001f\u007f\u2028"'],
    ["fifteen bytes..", '"fifteen bytes.."'],
    ["sixteen bytes...", '"sixteen bytes..."'],
    ['fifteen bytes..", then more', '"fifteen bytes..\\", then more"'],
    [ABSTRACT, JSON.stringify(ABSTRACT)],
  ],
  date: [
    [null, "null"],
    [FIRST_DAY, '"00010101"'],
    [-1, '"19691231"'],
    [0, '"19700101"'],
    [11_016, '"20000229"'],
    [19_724, '"20240102"'],
    [LAST_DAY, '"99991231"'],
  ],
  float64: [
    [null, "null"],
    [NaN, "null"],
    [Infinity, "null"],
    [-Infinity, "null"],
    [0, "0"],
    [-0, "0"],
    [-1.25, "-1.25"],
    [10.5, "10.5"],
    [9.87, "9.87"],
    [1234.5678, "1234.5678"],
    [0.0001, "0.0001"],
    [99_999_999_999.9999, "99999999999.9999"],
    [0.1 + 0.2, "0.30000000000000004"],
    [1 / 3, "0.3333333333333333"],
    [0.000001, "0.000001"],
    [1e-7, "1e-7"],
    [1.5e-10, "1.5e-10"],
    [2 ** 53, "9007199254740992"],
    [1e20, "100000000000000000000"],
    [123456789012345680000, "123456789012345680000"],
    [1e21, "1e+21"],
    [1e23, "1e+23"],
    [Number.MAX_VALUE, "1.7976931348623157e+308"],
    [-Number.MAX_VALUE, "-1.7976931348623157e+308"],
    [Number.MIN_VALUE, "5e-324"],
    [2 ** -1022, "2.2250738585072014e-308"],
    [2.225073858507201e-308, "2.225073858507201e-308"],
  ],
  int64: [
    [null, "null"],
    [0n, "0"],
    [-1n, "-1"],
    [9_999n, "9999"],
    [10_000n, "10000"],
    [4_294_967_295n, "4294967295"],
    [4_294_967_296n, "4294967296"],
    [9_007_199_254_740_993n, "9007199254740993"],
    [10n ** 18n, "1000000000000000000"],
    [2n ** 63n - 1n, "9223372036854775807"],
    [-(2n ** 63n), "-9223372036854775808"],
  ],
};

describe.each(Object.entries(EDGES) as [ColumnType, (typeof EDGES)[ColumnType]][])("%s", (type, edges) => {
  const columns = [column("v", type)];
  const style = styleOf(columns, JSON_ROWS);
  const expected = (some: typeof edges) => some.map(([, json]) => `[${json}]\n`).join("");
  const batch = (some: typeof edges) => batchOf(columns, [some.map(([value]) => value)]);

  test.each([
    ["the kernel", kernel(columns, style)],
    ["plain TypeScript", plain(columns, style)],
  ])("%s writes the values at its edges", (_, write) => {
    const whole = edges.filter(([value]) => value !== null);
    const missing = [edges[0]!, edges[0]!, edges[0]!];
    for (const some of [edges, whole, missing, []]) {
      expect(write(batch(some))).toBe(expected(some));
    }
    for (let from = 0; from < edges.length; from++) {
      const slice = batch(edges).slice(from, from + 3);
      expect(write(slice)).toBe(expected(edges.slice(from, from + 3)));
    }
  });
});

test("a date outside the years 1 to 9999 is an error", () => {
  const columns = [column("d", "date")];
  const style = styleOf(columns, JSON_ROWS);
  for (const write of [kernel(columns, style), plain(columns, style)]) {
    for (const day of [FIRST_DAY - 1, LAST_DAY + 1, -(2 ** 31), 2 ** 31 - 1]) {
      expect(() => write(batchOf(columns, [[day]]))).toThrow(RangeError);
    }
  }
});

test("a missing value may hold anything in its slot", () => {
  const columns = [column("d", "date")];
  const batch = batchOf(columns, [[null, 0]]);
  batch.data.children[0]!.values[0] = 2 ** 31 - 1;
  expect(kernel(columns, styleOf(columns, JSON_ROWS))(batch)).toBe('[null]\n["19700101"]\n');
});

test("CSV distinguishes missing from empty values and quotes only if needed", () => {
  const columns = [column("a", "text"), column("b", "text")];
  const values = [
    [null, "", "plain", " x ", 'a "b"', "a,b", "a\nb", "a\rb", "x".repeat(40) + ","],
    ["1", null, "", "'", '"', ",", "\n", "\r", "平安"],
  ];
  const lines = [",1", '"",', 'plain,""', " x ,'", '"a ""b""",""""', '"a,b",","', '"a\nb","\n"', '"a\rb","\r"'];
  const expected = [...lines, `"${"x".repeat(40)},",平安`, ""].join("\n");
  for (const make of [kernel, plain]) {
    const write = make(columns, styleOf(columns, CSV_LINES));
    expect(write(batchOf(columns, values))).toBe(expected);
  }
});

const ARBITRARY: Record<ColumnType, fc.Arbitrary<Value>> = {
  code: fc.stringMatching(/^\d{6}\.(SZ|SH|BJ)$/),
  text: fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom('"', "\\", "\n", ",", "\u0001", "a", "平", "🚀"), maxLength: 80 }),
  ),
  date: fc.integer({ min: FIRST_DAY, max: LAST_DAY }),
  float64: fc.oneof(
    fc.double(),
    fc.integer({ min: -1_000_000, max: 1_000_000 }).map((n) => n / 100),
    fc.integer({ min: -1_000_000, max: 1_000_000 }).map((n) => n / 100 + 0.1),
  ),
  int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
};

const table = fc
  .array(fc.constantFrom<ColumnType>("code", "text", "date", "float64", "int64"), { minLength: 1, maxLength: 12 })
  .chain((types) =>
    fc.record({
      columns: fc.constant(types.map((type, i) => column(`${"n".repeat(i * 5)}${i}`, type))),
      rows: fc.array(
        fc.tuple(...types.map((type, i) => (i % 3 === 1 ? ARBITRARY[type] : fc.option(ARBITRARY[type])))),
        { maxLength: 40 },
      ),
      from: fc.nat(20),
    }),
  );

test.each(Object.entries(FORMATS))("%s: the kernel writes the same bytes as plain TypeScript", (_, format) => {
  fc.assert(
    fc.property(table, ({ columns, rows, from }) => {
      const batch = batchOf(
        columns,
        columns.map((__, i) => rows.map((row) => row[i]!)),
      ).slice(from);
      const style = styleOf(columns, format);
      expect(kernel(columns, style)(batch)).toBe(plain(columns, style)(batch));
    }),
    { numRuns: 300 },
  );
});

test("the JSON of any row parses back to its values", () => {
  fc.assert(
    fc.property(table, ({ columns, rows }) => {
      const batch = batchOf(
        columns,
        columns.map((_, i) => rows.map((row) => row[i]!)),
      );
      const lines = kernel(columns, styleOf(columns, JSON_ROWS))(batch).split("\n");
      const parsed = lines.slice(0, -1).map((line) => JSON.parse(line) as unknown[]);
      const expected = rows.map((row) =>
        row.map((value, i) => {
          if (value === null || columns[i]!.type === "code" || columns[i]!.type === "text") return value;
          if (columns[i]!.type === "date")
            return new Date(Number(value) * 86_400_000).toISOString().slice(0, 10).replaceAll("-", "");
          return Number.isFinite(Number(value)) ? Number(value) + 0 : null;
        }),
      );
      expect(parsed).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});

describe("doubles read as String(v) prints them", () => {
  const columns = [column("v", "float64")];
  const write = kernel(columns, styleOf(columns, JSON_ROWS));
  const COUNT = 50_000;
  const words = new Uint32Array(COUNT * 2);
  const doubles = new Float64Array(words.buffer);
  const random = fc.sample(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), COUNT * 2);
  const unit = (i: number) => (random[i]! + 2 ** 31) / 2 ** 32;

  test.each<[string, (i: number) => void]>([
    ["any bits", (i) => words.set(random.slice(i * 2, i * 2 + 2), i * 2)],
    ["noise in the last digits", (i) => (doubles[i] = Math.round(unit(i) * 1e5) / 100 + 0.1 + 0.2)],
    ["up to ten decimals", (i) => (doubles[i] = Number((unit(i) * 10 ** (i % 12)).toFixed(i % 11)))],
    [
      "powers of two and their neighbours",
      (i) => {
        doubles[i] = 2 ** ((i % 2098) - 1074);
        words[i * 2]! += (i % 5) - 2;
      },
    ],
    [
      "powers of ten and their neighbours",
      (i) => {
        doubles[i] = Number(`${(i % 97) + 1}e${Math.floor(unit(i) * 632) - 323}`);
        words[i * 2]! += (i % 5) - 2;
      },
    ],
    ["whole numbers of any size", (i) => (doubles[i] = Math.floor(unit(i) * 2 ** (i % 71)))],
  ])("%s", (_, fill) => {
    for (let i = 0; i < COUNT; i++) fill(i);
    const expected = Array.from(doubles, (v) => `[${Number.isFinite(v) ? String(v) : "null"}]`).join("\n");
    expect(write(batchOf(columns, [Array.from(doubles)])) === expected + "\n").toBe(true);
  });
});

test("a batch larger than the kernel's memory is encoded in windows, a row larger than it in plain TypeScript", () => {
  const columns = [column("v", "float64"), column("t", "text")];
  const texts = [
    "x".repeat(4_000_000),
    "",
    ...Array.from({ length: 30 }, (_, i) => `${ABSTRACT}${i}`),
    '"'.repeat(3_000_000),
  ];
  const values = [texts.map((_, i) => i / 8), texts];
  const expected = texts.map((text, i) => `[${i / 8},${JSON.stringify(text)}]\n`).join("");
  const text = kernel(columns, styleOf(columns, JSON_ROWS))(batchOf(columns, values));
  expect(text === expected).toBe(true);
});

test("text that must be escaped at every byte fits", () => {
  const columns = [column("t", "text")];
  const values = [Array.from({ length: 5_000 }, () => "\u0001".repeat(700))];
  const text = kernel(columns, styleOf(columns, JSON_ROWS))(batchOf(columns, values));
  expect(text.length).toBe(5_000 * (700 * 6 + 5));
  expect(text.slice(-7)).toBe('0001"]\n');
});

import { expect, test } from "vitest";
import { jsonEncoder } from "../../src/encode/text.js";
import { batchOf, column, partsOf } from "./batches.js";

const columns = [
  column("ts_code", "code"),
  column("trade_date", "date"),
  column("vol", "int64"),
  column("pe", "float64"),
];
const head = { entity: "daily", dataVersion: "2026-01-05T09:30:00.000+08:00", columns };
const before =
  '{"entity":"daily","data_version":"2026-01-05T09:30:00.000+08:00","columns":[{"name":"ts_code","dtype":"string"},' +
  '{"name":"trade_date","dtype":"string"},{"name":"vol","dtype":"int64"},{"name":"pe","dtype":"float64"}],"rows":[';

test("the envelope has its keys in the order of the contract", () => {
  const encoder = jsonEncoder(head);
  const batches = [
    batchOf(columns, [["000001.SZ"], [19_724], [5n], [null]]),
    batchOf(columns, [[], [], [], []]),
    batchOf(columns, [
      ["000002.SZ", null],
      [19_725, null],
      [6n, 7n],
      [0.5, -0],
    ]),
  ];
  const parts = partsOf(encoder, batches, { count: 3, truncated: true, nextCursor: "abc" });
  expect(Buffer.concat(parts).toString()).toBe(
    before +
      '["000001.SZ","20240102",5,null],["000002.SZ","20240103",6,0.5],[null,null,7,0]' +
      '],"count":3,"truncated":true,"next_cursor":"abc"}',
  );
});

test("a response without rows is complete", () => {
  const encoder = jsonEncoder(head);
  const empty = batchOf(columns, [[], [], [], []]);
  const parts = partsOf(encoder, [empty], { count: 0, truncated: false, nextCursor: null });
  expect(Buffer.concat(parts).toString()).toBe(`${before}],"count":0,"truncated":false,"next_cursor":null}`);
});

test("returned bytes do not change, and neither do those of two concurrent encoders", () => {
  const [a, b] = [jsonEncoder(head).segment(), jsonEncoder(head).segment()];
  const first = a.batch(batchOf(columns, [["000001.SZ"], [19_724], [5n], [1.5]]));
  const second = b.batch(batchOf(columns, [["600000.SH"], [0], [1n], [2.5]]));
  const third = a.batch(batchOf(columns, [["999999.BJ"], [1], [2n], [3.5]]));
  expect([first, second, third].map((pieces) => Buffer.concat([...pieces]).toString())).toEqual([
    '["000001.SZ","20240102",5,1.5]',
    '["600000.SH","19700101",1,2.5]',
    ',["999999.BJ","19700102",2,3.5]',
  ]);
});

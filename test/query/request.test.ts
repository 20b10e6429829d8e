import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ENTITIES, entityNamed } from "../../src/catalog/index.js";
import { Problem } from "../../src/errors.js";
import { decodeCursor, encodeCursor, fingerprint } from "../../src/query/cursor.js";
import { kindsOf, parameterNames, type ParameterKind } from "../../src/catalog/parameters.js";
import { companionsOf } from "../support/openapi.js";
import { parseRequest, type EntityRequest, type RequestLimits } from "../../src/query/request.js";

const NO_LIMITS: RequestLimits = { defaultLimit: null, maxLimit: null };
const parse = (entity: string, query: string, limits = NO_LIMITS) =>
  parseRequest(entityNamed(entity)!, new URLSearchParams(query), limits);

const entities = fc.constantFrom(...ENTITIES);
const value = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "20240101",
    "2024-02-30",
    "null",
    "600519.SH",
    "1",
    "-1",
    "asc",
    "csv",
    "a,b",
    ",",
    "%00",
    "٣",
    "1e3",
  ),
);

describe("the parser", () => {
  test("never throws anything but a problem that names a parameter", () => {
    const query = entities.chain((entity) =>
      fc.record({
        entity: fc.constant(entity),
        parameters: fc.array(
          fc.tuple(fc.oneof(fc.constantFrom(...parameterNames(entity), "as_of"), fc.string()), value),
          { maxLength: 5 },
        ),
      }),
    );
    fc.assert(
      fc.property(query, ({ entity, parameters }) => {
        try {
          expect(parseRequest(entity, new URLSearchParams(parameters), NO_LIMITS).entity).toBe(entity);
        } catch (error) {
          expect(error).toBeInstanceOf(Problem);
          expect((error as Problem).status).toBe(400);
          expect((error as Problem).extras.parameter).toBeTypeOf("string");
        }
      }),
      { numRuns: 3000 },
    );
  });

  test("reads lists of up to 20,000 values, and no longer ones", () => {
    const names = (count: number): string => Array.from({ length: count }, (_, i) => `n${i}`).join();
    expect(parse("stock_list", `name=${names(20_000)}`).filters[0]!.values).toHaveLength(20_000);
    for (const query of [`name=${names(20_001)}`, `name="a",${names(20_000)}`, "name=a&".repeat(20_001)]) {
      expect(() => parse("stock_list", query)).toThrow("20001 values");
    }
  });

  test("keeps what every kind of parameter says", () => {
    const samples: Record<ParameterKind, string> = {
      ...{
        start_date: "20240101",
        end_date: "20240101",
        as_of: "20240101",
        as_of_days: "month_end",
        ...{ as_of_start: "20240101", as_of_end: "20240101" },
        latest: "true",
        adjust: "forward",
        adjust_volume: "true",
        fields: "ts_code",
      },
      ...{
        limit: "1",
        cursor: "x",
        order: "desc",
        data_version: "2024-01-01T00:00:00.000+08:00",
        format: "csv",
        dates: "date",
        compression: "zstd",
        bom: "true",
      },
    };
    for (const entity of ENTITIES) {
      const nothing = parseRequest(entity, new URLSearchParams(), NO_LIMITS);
      for (const kind of kindsOf(entity)) {
        const sample = kind === "fields" ? entity.columns[0]!.name : samples[kind];
        const query = new URLSearchParams([...companionsOf(kind), [kind, sample]]);
        expect([kind, parseRequest(entity, query, NO_LIMITS)]).not.toEqual([kind, nothing]);
      }
    }
  });

  test("accepts every parameter that it lists", () => {
    for (const entity of ENTITIES) {
      for (const name of parameterNames(entity)) {
        const samples = [
          "20240101",
          "1",
          "null",
          "json",
          "text",
          "none",
          "asc",
          "forward",
          "month_end",
          "false",
          "2024-01-01T00:00:00.000+08:00",
          entity.columns[0]!.name,
        ];
        const taken = samples.filter((sample) => {
          try {
            return (
              parseRequest(entity, new URLSearchParams([[name, sample], ...companionsOf(name)]), NO_LIMITS) !== null
            );
          } catch {
            return false;
          }
        });
        expect([entity.name, name, taken.length > 0]).toEqual([entity.name, name, true]);
      }
    }
  });

  test("knows period for the fiscal period of the finance entities, whose end_date bounds the range", () => {
    const { filters, end } = parse("income", "period=20241231&end_date=20250430");
    expect(filters.map((filter) => [filter.column.name, filter.values])).toEqual([["end_date", ["20241231"]]]);
    expect(end).toBe("20250430");
  });

  test("refuses days that are all outside the requested range", () => {
    const outside = [
      ["daily", "trade_date=20240101&start_date=20240102", "no requested trade_date is within start_date 20240102"],
      [
        "daily",
        "trade_date=20240101,20240109&start_date=20240102&end_date=20240108",
        "start_date 20240102 and end_date",
      ],
      ["anns_d", "ann_date=null&end_date=20240102", "no requested ann_date is within end_date 20240102"],
      ["stock_list", "snapshot_date=2024-01-03&end_date=20240102", "no requested snapshot_date"],
    ] as const;
    for (const [entity, query, detail] of outside) {
      const refused = expect(() => parse(entity, query));
      refused.toThrow(expect.objectContaining({ code: "contradictory_parameters" }) as Error);
      refused.toThrow(detail);
    }
    for (const query of [
      "trade_date=20240101,20240109&start_date=20240109",
      "trade_date=20240101&start_date=20240101&end_date=20240101",
      "trade_date=20240101",
    ]) {
      expect(parse("daily", query).filters).toHaveLength(1);
    }
    expect(parse("income", "period=20241231&start_date=20250101").start).toBe("20250101");
  });

  test.each([
    ["daily", "600519.SSE,000001.SZSE,920001.BSE", ["600519.SH", "000001.SZ", "920001.BJ"]],
    ["daily", "600519.XSHG,600519.SS,SHSE.600519,SH600519,600519.SHG", ["600519.SH"]],
    ["daily", "SZ.000001,000001.SHE,XSHE.000001", ["000001.SZ"]],
    ["anns_d", "000001.XSHE,600519", ["000001.SZ", "600519"]],
    ["index_daily", "000300.XSHG", ["000300.SH"]],
  ])("%s understands the codes %s of other tools", (entity, codes, ours) => {
    expect(parse(entity, `ts_code=${codes}`).filters[0]!.values).toEqual(ours);
  });

  test.each([
    ["2024/01/05", "did you mean 20240105?"],
    ["2024-1-5", "did you mean 20240105?"],
    ["2024-01-05T09:30:00+08:00", "did you mean 20240105?"],
    ["2024年1月5日", "did you mean 20240105?"],
    ["20240105.0", "did you mean 20240105?"],
    ["2024/02/30", undefined],
    ["05.01.2024", undefined],
    ["yesterday", undefined],
  ])("says that %s is not in a known format, and which day may be meant", (text, hint) => {
    const problem = expect.objectContaining({
      detail: expect.stringContaining("is not a date in a known format") as string,
      extras: { parameter: "start_date", allowed: ["YYYYMMDD", "YYYY-MM-DD"], ...(hint && { hint }) },
    }) as Error;
    const query = new URLSearchParams({ start_date: text }).toString();
    expect(() => parse("daily", query)).toThrow(problem);
  });

  test("refuses a code that no row can have, and says what may be meant", () => {
    const meant = "did you mean 600519.SH, 600519.SZ or 600519.BJ?";
    for (const [entity, query, detail, hint] of [
      ["daily", "ts_code=600519", 'ts_code: "600519" has no suffix that tells its exchange', meant],
      ["index_member", "con_code=600519", 'con_code: "600519" has no suffix that tells its exchange', meant],
      ["daily", "ts_code=600519.sh", 'ts_code: "600519.sh" is written in small letters', "did you mean 600519.SH?"],
      ["anns_d", "ts_code=600519.sh", 'ts_code: "600519.sh" is written in small letters', "did you mean 600519.SH?"],
      ["daily", "ts_code=000001.SZ,600519.ss", "is written in small letters", "did you mean 600519.SH?"],
      ["daily", "ts_code=000002.XX", "has the suffix XX, which is of no exchange here: SH, SZ, BJ", undefined],
      ["daily", "ts_code=600000.SZ", "600000 is a number of SH, not of SZ", "did you mean 600000.SH?"],
      ["daily", "ts_code=0001.SZ", "has 4 digits instead of 6", "did you mean 000001.SZ?"],
      ["daily", "ts_code=贵州茅台", 'ts_code: "贵州茅台" is no code', undefined],
    ] as const) {
      const given = new URLSearchParams(query).toString();
      const problem = {
        code: "invalid_parameter",
        detail: expect.stringContaining(detail) as string,
        extras: expect.objectContaining(hint ? { hint } : {}) as object,
      };
      expect(() => parse(entity, given)).toThrow(expect.objectContaining(problem) as Error);
    }
    for (const [entity, query] of [
      ["anns_d", "ts_code=600519"],
      ["daily", "ts_code=600519.SH,null"],
      ["index_daily", "ts_code=801010.SI"],
    ] as const) {
      expect(parse(entity, query).filters).toHaveLength(1);
    }
  });

  test("reads text with a comma in quotes, as in CSV, and leaves every other quote unchanged", () => {
    const authors = (...given: string[]) =>
      parse("research_report", new URLSearchParams(given.map((text): [string, string] => ["author", text])).toString())
        .filters[0]!.values;
    expect(authors('"张三,李四"')).toEqual(["张三,李四"]);
    expect(authors('王五, "张三,李四" ,"a ""b"", c"', "d")).toEqual(["王五", "张三,李四", 'a "b", c', "d"]);
    expect(authors('"a"', '"', 'b"c', '"d"e,f')).toEqual(['"a"', '"', 'b"c', '"d"e', "f"]);
    expect(() => authors('"a,b",')).toThrow(/empty item/);
    expect(() => parse("daily", 'ts_code="000001.SZ,000002.SZ"')).toThrow(/is no code/);
    fc.assert(
      fc.property(
        fc.array(
          fc.string().filter((text) => text.trim() === text && text !== "" && text !== "null"),
          { minLength: 1 },
        ),
        (texts) => {
          const quoted = texts.map((text) => (text.includes(",") ? `"${text.replaceAll('"', '""')}"` : text));
          fc.pre(!quoted.some((text) => text.startsWith('"') && !text.includes(",")));
          expect(authors(quoted.join(","))).toEqual([...new Set(texts)]);
        },
      ),
    );
  });

  test("reads a long list of quotes in a moment", () => {
    for (const piece of ['"', '",', '"a"",', ',""x', '""', '"a,']) {
      expect(() =>
        parse("research_report", new URLSearchParams({ author: piece.repeat(60_000) }).toString()),
      ).not.toThrow(RangeError);
    }
  });

  test("keeps an operator's default and refuses more than the maximum", () => {
    const limits = { defaultLimit: 10, maxLimit: 100 };
    expect(parse("daily", "", limits).limit).toBe(10);
    expect(parse("daily", "limit=100", limits).limit).toBe(100);
    expect(() => parse("daily", "limit=101", limits)).toThrow(/limit/);
  });

  test("understands a + in data_version that arrives as a space", () => {
    expect(parse("daily", "data_version=2024-01-01T00:00:00.000+08:00").dataVersion).toBe(
      "2024-01-01T00:00:00.000+08:00",
    );
  });
});

describe("a cursor", () => {
  const position = fc.record({
    date: fc.option(fc.constantFrom("19901219", "20240102")),
    code: fc.option(fc.string()),
    row: fc.nat(),
  });

  test("comes back as it was made, for the same query", () => {
    const request = parse("daily", "ts_code=600519.SH&limit=5");
    fc.assert(
      fc.property(position, (place) => {
        const cursor = { dataVersion: "2024-01-01T00:00:00.000+08:00", position: place };
        expect(decodeCursor(request, encodeCursor(request, cursor))).toEqual(cursor);
      }),
    );
  });

  test("is refused by every other query, and when a character of it is changed", () => {
    const cursor = { dataVersion: "2024-01-01T00:00:00.000+08:00", position: { date: "20240102", code: "a", row: 1 } };
    const text = encodeCursor(parse("daily", "ts_code=600519.SH"), cursor);
    for (const query of ["", "ts_code=600519.SH&order=desc", "ts_code=600519.SH&fields=close", "ts_code=000001.SZ"]) {
      expect(() => decodeCursor(parse("daily", query), text)).toThrow(Problem);
    }
    fc.assert(
      fc.property(fc.nat(text.length - 2), fc.constantFrom("A", "_", "!"), (at, letter) => {
        fc.pre(text[at] !== letter);
        const broken = text.slice(0, at) + letter + text.slice(at + 1);
        expect(() => decodeCursor(parse("daily", "ts_code=600519.SH"), broken)).toThrow(Problem);
      }),
    );
  });

  test.each([
    ["nested lists", [1, JSON.parse("[".repeat(300) + "]".repeat(300))]],
    ["objects that are no text", [1, { toString: 1, valueOf: 1 }]],
    ["no list", 7],
    ["a list of nothing", []],
    ["more than any cursor has", ["", "x".repeat(5_000)]],
  ])("is refused where it holds %s", (_what, content) => {
    const text = Buffer.from(JSON.stringify(content)).toString("base64url");
    expect(() => decodeCursor(parse("daily", ""), text)).toThrow(Problem);
  });

  test.each([
    { dataVersion: "x".repeat(300), position: { date: null, code: null, row: 0 } },
    { dataVersion: "2024-01-01T00:00:00.000+08:00", position: { date: "20240230", code: null, row: 0 } },
    { dataVersion: "2024-01-01T00:00:00.000+08:00", position: { date: null, code: null, row: -1 } },
    { dataVersion: "2024-01-01T00:00:00.000+08:00", position: { date: null, code: null, row: 1e300 } },
    { dataVersion: "2024-01-01T00:00:00.000+08:00", position: { date: null, code: "x".repeat(2_000), row: 0 } },
  ])("is refused where someone made it of what no page ends with: %j", (cursor) => {
    const request = parse("daily", "");
    expect(() => decodeCursor(request, encodeCursor(request, cursor))).toThrow(Problem);
  });

  test("may go on with another page size and another format", () => {
    const cursor = { dataVersion: "2024-01-01T00:00:00.000+08:00", position: { date: "20240102", code: "a", row: 1 } };
    const text = encodeCursor(parse("daily", "limit=5"), cursor);
    expect(decodeCursor(parse("daily", "limit=50&format=csv"), text)).toEqual(cursor);
  });

  test("is bound to every field of a request but the six that it names, also to those that come later", () => {
    const request = parse("daily", "ts_code=600519.SH&fields=close&order=desc&limit=5&adjust=forward");
    const same = ["limit", "format", "compression", "bom", "cursor", "dataVersion"];
    const others: Partial<Record<keyof EntityRequest, unknown>> = {
      entity: { name: "other" },
      columns: [],
      filters: [],
    };
    for (const name of [...(Object.keys(request) as (keyof EntityRequest)[]), "later" as keyof EntityRequest]) {
      const changed = { ...request, [name]: others[name] ?? "other" };
      expect([name, fingerprint(changed) === fingerprint(request)]).toEqual([name, same.includes(name)]);
    }
  });

  test("tells equal values of two fields apart", () => {
    const request = parse("daily", "");
    const [one, other] = [
      { ...request, excluded: ["600519.SH"] },
      { ...request, wanted: ["600519.SH"] },
    ];
    expect(fingerprint(one)).not.toBe(fingerprint(other));
    expect(fingerprint({ ...request, excluded: null } as typeof request)).toBe(fingerprint(request));
  });

  test("stays valid across releases: its format does not change", () => {
    const request = parse("daily", "ts_code=600519.SH&fields=close&order=desc&limit=5&adjust=forward");
    const form =
      '{"entity":"daily","columns":["close"],"filters":[["ts_code",["600519.SH"]]],"order":"desc","adjust":"forward"}';
    expect(fingerprint(request)).toBe(form);
  });
});

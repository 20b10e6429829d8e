import fc from "fast-check";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStaging, type Staging } from "./staging.js";

let box: Staging;
beforeAll(async () => {
  box = await openStaging();
});
afterAll(() => box.close());

const HEADER = "ts_code,name,list_date";
const ROWS = [
  ["000001.SZ", "平安银行", "1991-04-03"],
  ["600000.SH", "浦发银行", "1999-11-10"],
];
const TEXT = `${HEADER}\n000001.SZ,平安银行,19910403\n600000.SH,浦发银行,19991110\n`;
const set = { snapshot_date: "20240102" };

async function read(content: string | Uint8Array, name = "x.csv"): Promise<unknown[][]> {
  const staged = await box.stage("stock_list", box.put(name, content), { set });
  return box.rows(staged, "ts_code", "name", "list_date");
}

const refused = (content: string | Uint8Array): Promise<string> =>
  box.refusal("stock_list", box.put("x.csv", content), { set });

/** GB18030 bytes: Node decodes them but does not encode them. */
const GB18030 = new Map([
  ["平安银行", "c6bdb0b2d2f8d0d0"],
  ["浦发银行", "c6d6b7a2d2f8d0d0"],
]);
const inGb18030 = (text: string): Buffer =>
  Buffer.from(
    text.replaceAll(/平安银行|浦发银行/g, (word) => Buffer.from(GB18030.get(word)!, "hex").toString("latin1")),
    "latin1",
  );

const utf16 = (text: string, bigEndian: boolean): Buffer => {
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le");
  return bigEndian ? bytes.swap16() : bytes;
};

describe("every encoding and dialect gives the same rows", () => {
  test.each([
    ["UTF-8", TEXT],
    ["a byte order mark", `\ufeff${TEXT}`],
    ["CR LF", TEXT.replaceAll("\n", "\r\n")],
    ["CR", TEXT.replaceAll("\n", "\r")],
    ["CR LF here and LF there", TEXT.replace("\n", "\r\n")],
    ["LF here and CR LF there", TEXT.replace(/\n$/, "\r\n")],
    ["no line end at the end", TEXT.trimEnd()],
    ["semicolons", TEXT.replaceAll(",", ";")],
    ["tabs", TEXT.replaceAll(",", "\t")],
    ["bars", TEXT.replaceAll(",", "|")],
    ["quotes around everything", TEXT.replaceAll(/[^,\n]+/g, '"$&"')],
    ["blank lines above, between and below", `\n\r\n${TEXT.replaceAll("\n", "\n\n")}\n`],
    ["blanks around names and values", TEXT.replaceAll(",", " , ").replaceAll("\n", " \n ").trimEnd()],
    [
      "a byte order mark before quotes and CR LF",
      `\ufeff${TEXT.replaceAll(/[^,\n]+/g, '"$&"').replaceAll("\n", "\r\n")}`,
    ],
    ["GB18030", inGb18030(TEXT)],
    ["GB18030 with CR LF", inGb18030(TEXT.replaceAll("\n", "\r\n"))],
    ["UTF-16, little end first", utf16(TEXT, false)],
    ["UTF-16, big end first", utf16(TEXT, true)],
    ["gzip of GB18030", gzipSync(inGb18030(TEXT))],
  ])("%s", async (_name, content) => {
    const gzipped = typeof content !== "string" && content[0] === 0x1f;
    expect(await read(content, gzipped ? "x.csv.gz" : "x.csv")).toEqual(ROWS);
  });

  test("a GB18030 file of any size is reported as decoded", async () => {
    const many = `${HEADER}\n` + "600000.SH,浦发银行,19991110\n".repeat(60_000) + "000001.SZ,平安银行,19910403\n";
    const staged = await box.stage("stock_list", box.put("x.csv", inGb18030(many)), { set });
    expect(staged.warnings).toContain("the text was decoded from GB18030");
    expect(await box.rows(staged, "name")).toEqual([["浦发银行"], ["平安银行"]]);
    expect(staged.duplicates).toBe(59_999);
  });

  test("a file is recognised as UTF-8 although a chunk ends within a character", async () => {
    const many = `${HEADER}\n` + "600000.SH,浦发银行,19991110\n".repeat(100_000);
    for (const pad of ["", "x", "xx"]) {
      const staged = await box.stage(
        "stock_list",
        box.put("x.csv", many.replace("name", `name,${pad}`).replaceAll("行,", "行,,")),
        {
          set,
        },
      );
      expect(staged.warnings).toEqual([]);
    }
  });
});

describe("text in another encoding is refused, never mojibake", () => {
  test.each([
    ["Latin-1", Buffer.from(TEXT.replaceAll(/[^\x00-\x7f]+/g, "Société Générale"), "latin1")],
    [
      "Big5",
      Buffer.from(
        `${HEADER}\n2330.TW,\xa5\x78\xbf\x6e\xb9\x71,19940905\n2317.TW,\xc2\x45\xae\xfc,19910618\n`,
        "latin1",
      ),
    ],
    [
      "Shift-JIS",
      Buffer.from(`${HEADER}\n7203.TSE,\x83\x67\x83\x88\x83\x5e\x8e\xa9\x93\xae\x8e\xd4,19490516\n`, "latin1"),
    ],
    ["UTF-8 cut within a character", Buffer.from(TEXT.slice(0, -10)).subarray(0, -4)],
    [
      "UTF-8 with a damaged byte",
      Buffer.from(Buffer.from(TEXT.repeat(20)).toString("latin1").replace("\xe5\xb9", "\xe5\x20"), "latin1"),
    ],
    ["UTF-16 without a byte order mark", utf16(TEXT, false).subarray(2)],
    ["zero bytes", TEXT.replace("平", "\0")],
    ["UTF-16 with a lone half", Buffer.concat([utf16(TEXT, false), Buffer.from([0x00, 0xd8])])],
  ])("%s", async (_name, content) => {
    expect(await refused(content)).toMatch(/^x\.csv is not (text in )?UTF-8/);
  });
});

describe("a header with line ends in a quoted name", () => {
  const LINE_ENDS = ["\n", "\r", "\r\n"];
  const pairs = LINE_ENDS.flatMap((row) => LINE_ENDS.map((inner) => [row, inner] as const));

  test.each(pairs)("keeps every row if rows end with %j and the name contains %j", async (row, inner) => {
    const text = TEXT.replaceAll("\n", row).replace("name", `name,"note${inner}of ${inner}us"`);
    expect(await read(text.replaceAll("行,", "行,x,"))).toEqual(ROWS);
  });

  test("of megabytes keeps its other names, and a row that lacks a cell is reported with its line", async () => {
    const notes = Array.from({ length: 1_900 }, (_, i) => `"${"备注\n".repeat(80)}${i}"`).join(",");
    const empty = ",".repeat(1_900);
    const header = `ts_code,name,${notes},list_date`;
    const first = `000001.SZ,平安银行,${empty}19910403`;
    expect(await read(`${header}\n${first}\n600000.SH,浦发银行,${empty}19991110\n`)).toEqual(ROWS);
    expect(await refused(`${header}\n${first}\n600000.SH,浦发银行,19991110\n`)).toBe(
      "x.csv line 152003: it has 3 cells, but the header has 1903",
    );
  });
});

describe("rows that do not fit the header are refused with their line", () => {
  test.each([
    ["too short", `${TEXT}000002.SZ,万科\n`, "x.csv line 4: it has 2 cells, but the header has 3"],
    ["too long", `${TEXT}000002.SZ,万科,19910129,x\n`, "x.csv line 4: it has 4 cells, but the header has 3"],
    [
      "below a quoted line end",
      `${HEADER}\n1.SZ,"a\n\nb",19910403\n2.SZ\n`,
      "x.csv line 5: it has 1 cells, but the header has 3",
    ],
    ["below blank lines", `\n\n${TEXT}\n\n000002.SZ,万科\n`, "x.csv line 8: it has 2 cells, but the header has 3"],
    [
      "an open quote",
      `${HEADER}\n000001.SZ,"平安,19910403\n`,
      "x.csv line 2: a quote is not closed, or is inside a cell",
    ],
    ["cut within a row", TEXT.slice(0, -12), "x.csv line 3: it has 2 cells, but the header has 3"],
    [
      "cut within a code",
      TEXT.slice(0, TEXT.indexOf("600000") + 4),
      "x.csv line 3: it has 1 cells, but the header has 3",
    ],
  ])("%s", async (_name, content, message) => {
    expect(await refused(content)).toBe(message);
  });

  test("a bad value is reported with its row and line, counting quoted line ends and blank lines", async () => {
    const text = `\n${HEADER}\n\n000001.SZ,"平\n安",19910403\n\n600000.SH,浦发,1999\n000002.SZ,x,1991\n`;
    expect(await refused(text)).toBe(
      'x.csv: row 2 (line 7), column list_date: "1999" is not a date of the calendar, such as 20240102 or 2024-01-02; ' +
        "1 more row refused",
    );
  });

  test("a bad value deep in a large file is reported with its line", async () => {
    const good = "000001.SZ,平安银行,19910403\n";
    const text = `${HEADER}\n${good.repeat(300_000)}000001.SZ,平安银行,19910230\n${good.repeat(1000)}`;
    expect(await refused(text)).toMatch(
      /^x\.csv: row 300001 \(line 300002\), column list_date: "19910230" is not a date/,
    );
  });
});

describe("text around a table is ignored and reported", () => {
  test("a source note and empty rows below it", async () => {
    for (const tail of ["\n数据来源: Wind\n", ",,\n,,\n数据来源：Wind,,\n", "Source: Wind\nCopyright by nobody"]) {
      const staged = await box.stage("stock_list", box.put("x.csv", TEXT + tail), { set });
      expect(staged.rows).toBe(2);
      expect(staged.warnings[0]).toMatch(/^a line below the table was ignored: (数据来源|Source)/);
    }
  });

  test("blank rows in the middle", async () => {
    const staged = await box.stage("stock_list", box.put("x.csv", TEXT.replace("\n6", "\n,,\n , \u3000,nan\n6")), {
      set,
    });
    expect(staged.warnings).toEqual(["2 blank rows ignored"]);
    expect(await box.rows(staged, "__row")).toEqual([[1], [4]]);
  });

  test("a note in the middle is not ignored", async () => {
    expect(await refused(TEXT.replace("\n6", "\n数据来源: Wind\n6"))).toMatch(/^x\.csv line 3: it has 1 cells/);
  });

  test("a cut word in a column of text is not treated as a note", async () => {
    const text = "name,ts_code\n平安银行,000001.SZ\n浦发";
    expect(await refused(text)).toBe('x.csv ends with an incomplete row: "浦发"');
  });

  test("a header alone gives no rows and a warning", async () => {
    for (const text of [HEADER, `${HEADER}\n`, `\ufeff${HEADER}\r\n\r\n`]) {
      const staged = await box.stage("stock_list", box.put("x.csv", text), { set });
      expect([staged.rows, staged.warnings]).toEqual([0, ["the file holds no rows"]]);
    }
  });
});

test("any text survives quoting, delimiters and line ends", async () => {
  const cell = fc.string({
    unit: fc.constantFrom("a", "中", "😀", '"', ",", ";", "\t", "|", "\n", "'", "\\", "#", " "),
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(cell, { minLength: 1, maxLength: 20 }),
      fc.constantFrom(",", ";", "\t", "|"),
      async (names, mark) => {
        const lines = names.map((name, i) => `${600000 + i}.SH${mark}"x${name.replaceAll('"', '""')}x"${mark}20240102`);
        const content = [HEADER.replaceAll(",", mark), ...lines].join("\n");
        expect((await read(content)).map((row) => row[1])).toEqual(names.map((name) => `x${name}x`));
      },
    ),
    { numRuns: 40 },
  );
});

describe("a file whose last line has no line end may have been cut short", () => {
  const header = "ts_code,trade_date,adj_factor\n";
  const whole = `${header}000001.SZ,20240102,1.5\n\n600000.SH,20240102,2228.789\n`;
  const warnings = async (text: string): Promise<readonly string[]> =>
    (await box.stage("adj_factor", box.put("x.csv", text))).warnings;

  test("it is taken, with a warning that names the row to check", async () => {
    expect(await warnings(whole)).toEqual([]);
    expect(await warnings(whole.replaceAll("\n", "\r"))).toEqual([]);
    expect(await warnings(whole.slice(0, -6))).toEqual([
      "the last line has no line end: the file may be cut short; check row 2",
    ]);
  });

  test("a note below the table is not a record, and needs no line end", async () => {
    expect(await warnings(`${whole}Source: exchange`)).toEqual([
      "a line below the table was ignored: Source: exchange",
    ]);
  });

  test("one that ends with a block, as an interrupted copy does, is refused, compressed or not", async () => {
    const rows = Array.from({ length: 400 }, (_, i) => `${String(i).padStart(6, "0")}.SZ,20240102,2228.789\n`);
    const cut = (header + rows.join("")).slice(0, 8192);
    const message = /is cut short or still being written: it has 8192 bytes, whole blocks of 4096, and its last line/;
    expect(await box.refusal("adj_factor", box.put("x.csv", cut))).toMatch(message);
    expect(await box.refusal("adj_factor", box.put("x.csv.gz", gzipSync(cut)))).toMatch(message);
    const { rows: taken } = await box.stage("adj_factor", box.put("x.csv", cut.slice(0, cut.lastIndexOf("\n"))));
    expect(taken).toBeGreaterThan(200);
  });
});

// A question put together in the page: its rows, its pages, its versions, and the code that asks the same elsewhere.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import { parametersOf } from "../../src/catalog/parameters.js";
import { describeInBrowser } from "../support/browser.js";
import { temporaryFolder } from "../support/folders.js";
import { publishRows } from "../support/lake.js";
import { enter, expectAccessible, MARKUP, servePage } from "../support/page.js";
import { openWire } from "../support/proxy.js";
import { TOKEN, type TestServer } from "../support/server.js";

const ROOT = join(import.meta.dirname, "../..");
const PYTHON = join(ROOT, ".venv/bin/python");
const run = promisify(execFile);

let server: TestServer;

beforeAll(async () => {
  server = await servePage();
});

const rowsOf = async (page: Page): Promise<string[]> =>
  (await page.getByRole("region", { name: "Rows" }).locator("tbody tr").allInnerTexts()).map((row) =>
    row.replaceAll("\t", " "),
  );

const ask = async (page: Page): Promise<void> => {
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator(".results:not([aria-busy]) :is(.rows, .trouble)").waitFor();
};

describeInBrowser("a query", () => {
  test("shows rows page by page, says what was cut, and which version was read", async () => {
    const { page, complaints } = await enter(server, "#/query?entity=daily");
    await page.getByLabel("Codes (ts_code)").fill("600519.SH, 000001.SZ");
    await page.getByLabel("From").fill("20241230");
    await page.getByLabel("Rows at most").fill("3");
    await page.locator("summary", { hasText: "Fields" }).click();
    for (const name of ["ts_code", "trade_date", "close"])
      await page.getByRole("checkbox", { name, exact: true }).check();
    await page.getByLabel("Order").selectOption("desc");
    await ask(page);
    expect(await rowsOf(page)).toEqual(["600519.SH 20241231 11", "000001.SZ 20241231 11", "600519.SH 20241230 11"]);
    const { data_version } = await server.json("/api/v1/entities/daily?limit=1");
    await page.getByText(`3 rows, truncated: more follow · ${data_version}`).waitFor();
    await page.getByRole("button", { name: "Next page" }).click();
    await page.getByText("Page 2").waitFor();
    expect(await rowsOf(page)).toEqual(["000001.SZ 20241230 11"]);
    await page.getByText("1 rows, whole").waitFor();
    expect(await page.getByRole("button", { name: "Next page" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "First page" }).click();
    await page.getByText("Page 1").waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  test("reads an older version, adjusted prices, and what was known on a day", async () => {
    const { page, complaints } = await enter(server, "#/query?entity=daily");
    const { versions } = (await (await server.get("/api/v1/versions")).json()) as { versions: string[] };
    await page.getByLabel("Codes (ts_code)").fill("300750.SZ");
    await ask(page);
    expect(await rowsOf(page)).toHaveLength(1);
    await page.getByLabel("Data version").selectOption(versions[1]!);
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByText("No rows match.").waitFor();

    await page.getByLabel("Codes (ts_code)").fill("600519.SH");
    await page.getByLabel("Rows at most").fill("1");
    await page.getByLabel("Adjustment").selectOption("forward");
    await ask(page);
    expect((await rowsOf(page))[0]).toContain("600519.SH 20240101 5 6 4.5 5.5");

    await page.getByLabel("Entity").selectOption("anns_d");
    await page.getByLabel("Known on (as_of)").fill("20240102");
    await ask(page);
    const announced = await rowsOf(page);
    expect(announced.map((row) => row.slice(0, 8))).toEqual(["20240101", "20240102"]);
    // What would be markup is text.
    expect(announced[0]).toContain(MARKUP);
    expect(await page.locator("main img").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("takes several days of as_of, the ends of months or weeks, only the newest revisions, and adjusted volumes", async () => {
    const { page, complaints } = await enter(server, "#/query?entity=anns_d");
    expect((await page.getByLabel("Adjustment").count()) + (await page.getByLabel("Revisions").count())).toBe(0);
    await page.getByLabel("Known on (as_of)").fill("20240101，2024-01-02");
    await ask(page);
    const days = async (): Promise<readonly string[]> => (await rowsOf(page)).map((row) => row.slice(0, 17));
    expect(await days()).toEqual(["20240101 20240101", "20240102 20240101", "20240102 20240102"]);
    await page.getByRole("columnheader", { name: "as_of known on", exact: true }).waitFor();

    expect(await page.getByLabel("(as_of_start)").isVisible()).toBe(false);
    await page.getByLabel("Known on (as_of)").fill("");
    await page.getByLabel("Known at the end of (as_of_days)").selectOption("week_end");
    await page.getByLabel("(as_of_start)").fill("20240101");
    await page.getByLabel("(as_of_end)").fill("20240107");
    await ask(page);
    expect((await days()).at(-1)).toBe("20240105 20240105");

    await page.getByLabel("Entity").selectOption("income");
    await page.getByLabel("Revisions").selectOption("true");
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByText("No rows match.").waitFor();
    expect(page.url()).toContain("entity=income&latest=true");

    await page.getByLabel("Entity").selectOption("daily");
    await page.getByLabel("Adjustment").waitFor();
    await page.getByLabel("Codes (ts_code)").fill("600519.SH");
    expect(await page.getByLabel("Known on (as_of)").count()).toBe(0);
    expect(await page.getByLabel("Volume").isVisible()).toBe(false);
    await page.getByLabel("Adjustment").selectOption("forward");
    await page.getByLabel("Volume").selectOption("true");
    await ask(page);
    expect((await rowsOf(page))[0]).toContain("600519.SH 20240101 5 6 4.5 5.5 5 0.5 10 2000");
    expect(complaints).toEqual([]);
  });

  test("filters by every column that the API filters by", async () => {
    const { page } = await enter(server, "#/query?entity=stock_list");
    await page.locator("summary", { hasText: "More filters" }).click();
    const labels = await page.locator(".filters label").allInnerTexts();
    const filters = parametersOf(entityNamed("stock_list")!).filter(({ kind }) => kind === "filter");
    expect(["ts_code", ...labels].sort()).toEqual(filters.map(({ name }) => name).sort());
    await page.getByRole("textbox", { name: "name", exact: true }).fill("平安银行,贵州茅台");
    await ask(page);
    expect(await rowsOf(page)).toHaveLength(2);
    await page.reload();
    expect(await page.getByRole("textbox", { name: "name", exact: true }).inputValue()).toBe("平安银行,贵州茅台");
  });

  test("that is refused says so beside the field at fault until that is changed", async () => {
    const { page } = await enter(server, "#/query?entity=daily");
    const control = (name: string) =>
      page.getByRole("textbox", { name, exact: true }).or(page.getByRole("combobox", { name, exact: true }));
    const told = async (label: string): Promise<string> => {
      await page.getByRole("button", { name: "Run" }).click();
      const text = await page.getByRole("alert").innerText();
      expect(await control(label).getAttribute("aria-invalid")).toBe("true");
      expect(await control(label).locator("..").getByRole("alert").innerText()).toBe(text);
      return text;
    };
    await page.getByLabel("From").fill("20241231");
    await page.getByLabel("To").fill("20240101");
    expect(await told("From")).toContain("start_date 20241231 is after end_date 20240101");
    await expectAccessible(page);
    await page.getByLabel("To").fill("20241231");
    expect(await page.getByRole("alert").count()).toBe(0);
    await page.getByLabel("Codes (ts_code)").fill("600519");
    expect(await told("Codes (ts_code)")).toMatch(/no suffix[^]*did you mean 600519\.SH/);
    await page.getByLabel("Codes (ts_code)").fill("");
    await page.getByLabel("Rows at most").fill("few");
    expect(await told("Rows at most")).toContain("a whole number from 1 on");
    await page.getByLabel("Rows at most").fill("");
    await page.locator("summary", { hasText: "More filters" }).click();
    await control("trade_date").fill("20240230");
    await page.locator("summary", { hasText: "More filters" }).click();
    expect(await told("trade_date")).toContain('"20240230" is not a calendar day');
    await page.goto(`${server.url}/#/query?entity=anns_d&as_of=20240101&as_of_days=month_end`);
    await page.getByLabel("(as_of_start)").waitFor();
    expect(await told("Known at the end of (as_of_days)")).toContain("cannot be combined");
  });

  test.each(["json", "ndjson", "csv", "arrow", "parquet"])("is downloaded as %s, byte for byte", async (format) => {
    const { page, complaints } = await enter(server, "#/query?entity=daily&ts_code=600519.SH");
    await page.getByLabel("Format").selectOption(format);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download" }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(new RegExp(`^daily_.*\\.${format === "arrow" ? "arrows" : format}$`));
    const answer = await server.get(`/api/v1/entities/daily?ts_code=600519.SH&format=${format}`);
    expect(await readFile(await download.path())).toEqual(Buffer.from(await answer.arrayBuffer()));
    await page.getByText(`${download.suggestedFilename()} is complete`).waitFor();
    expect(complaints).toEqual([]);
  });

  test("is downloaded for Excel, which recognizes UTF-8 by its first bytes", async () => {
    const { page } = await enter(server, "#/query?entity=daily&ts_code=600519.SH");
    await page.getByLabel("Format").selectOption("csv for Excel");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download" }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^daily_600519\.SH_.*\.csv$/);
    const file = await readFile(await download.path());
    expect(file.subarray(0, 10).toString("latin1")).toBe("\xef\xbb\xbfts_code");
  });

  test("whose download is cut becomes no file", async () => {
    const own = await servePage();
    // More than fits into the buffers between server and browser.
    const many = `SELECT printf('%06d.SZ', i) AS ts_code, DATE '2024-01-02' AS trade_date, random() AS close, random() AS open
      FROM range(200000) t(i)`;
    await publishRows(own.context.lake.layout.root, { daily: many });
    const wire = await openWire(own.url);
    try {
      const { page } = await enter({ ...own, url: wire.url }, "#/query?entity=daily");
      let saved = 0;
      page.on("download", () => (saved += 1));
      wire.arm(2_000, async () => wire.close());
      await page.getByRole("button", { name: "Download" }).click();
      await page.getByRole("alert").getByText("The server cannot be reached, or its answer was cut.").waitFor();
      expect(saved).toBe(0);
    } finally {
      wire.close();
    }
  });

  test("that is downloaded says if more rows match, and what was wrong beside the field", async () => {
    const { page } = await enter(server, "#/query?entity=daily&limit=3");
    await page.getByRole("button", { name: "Download" }).click();
    await page.getByText("more rows match").waitFor();
    await page.getByLabel("Rows at most").fill("0");
    await page.getByRole("button", { name: "Download" }).click();
    await page.locator(".field").getByRole("alert").getByText("a whole number from 1 on").waitFor();
    await page.getByRole("button", { name: "Download" }).waitFor();
    expect(await page.locator(".results").innerText()).toBe("");
  });
});

describeInBrowser("the code to take away", () => {
  const copyOf = async (page: Page, tool: string): Promise<string> => {
    await page.getByRole("tab", { name: tool, exact: true }).click();
    await page.getByRole("tabpanel").getByRole("button").click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    return page.evaluate<string>("navigator.clipboard.readText()");
  };
  const opened = async (): Promise<Page> => {
    const { page } = await enter(
      server,
      "#/query?entity=daily&ts_code=600519.SH,300750.SZ&start_date=20241227&fields=",
      {
        permissions: ["clipboard-read", "clipboard-write"],
      },
    );
    return page;
  };
  const env = { ...process.env, TOKEN };

  test("is the request itself: its address, and a curl line that works", async () => {
    const page = await opened();
    const url = await copyOf(page, "URL");
    expect(url).toBe(`${server.url}/api/v1/entities/daily?ts_code=600519.SH,300750.SZ&start_date=20241227`);
    const { stdout } = await run("sh", ["-c", await copyOf(page, "curl")], { env });
    expect(JSON.parse(stdout)).toMatchObject({ entity: "daily", count: 3 });
  });

  test("works in TypeScript, and as a file for DuckDB", async () => {
    const page = await opened();
    const folder = await temporaryFolder();
    const script = join(folder, "pull.mts");
    await writeFile(script, await copyOf(page, "TypeScript"));
    const { stdout } = await run(process.execPath, ["--import", "tsx", script], { env, cwd: ROOT });
    expect(stdout).toContain("20241231");
    const [curl, duckdb] = (await copyOf(page, "DuckDB")).split("\n");
    await run("sh", ["-c", curl!], { env, cwd: folder });
    const { DuckDBInstance } = await import("@duckdb/node-api");
    const connection = await (await DuckDBInstance.create()).connect();
    const sql = /-c "(.*)"/.exec(duckdb!)![1]!.replace("daily.parquet", join(folder, "daily.parquet"));
    const found = await connection.runAndReadAll(sql);
    expect(found.getRows()).toHaveLength(3);
    expect(found.columnTypes()[found.columnNames().indexOf("trade_date")]!.toString()).toBe("DATE");
  });

  test.skipIf(!existsSync(PYTHON)).each([
    ["pandas", "datetime64["],
    ["polars", "Date"],
  ])(
    "works in %s, with real dates like those of the client (skipped where .ci/run has not made .venv)",
    async (tool, type) => {
      const page = await opened();
      const script = join(await temporaryFolder(), "pull.py");
      await writeFile(script, `${await copyOf(page, tool)}\nprint(frame.shape, frame["trade_date"].dtype)`);
      const { stdout } = await run(PYTHON, [script], { env });
      expect(stdout).toContain(`(3, 11) ${type}`);
    },
  );
});

// SQL in the page: a statement with its parameters, its rows as a table and as lines, its mistakes, and the code that asks
// the same elsewhere.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { createToken } from "../../src/store/tokens.js";
import { EXAMPLES } from "../../src/web/sql-examples.js";
import { textsOf } from "../../src/web/texts.js";
import { describeInBrowser, openPage, type OpenPage } from "../support/browser.js";
import { demoLake } from "../support/demo.js";
import { temporaryFolder } from "../support/folders.js";
import { enter, expectAccessible, MARKUP, servePage } from "../support/page.js";
import { serve, TOKEN, type TestServer } from "../support/server.js";

const ROOT = join(import.meta.dirname, "../..");
const PYTHON = join(ROOT, ".venv/bin/python");
const run = promisify(execFile);

let server: TestServer;

beforeAll(async () => {
  server = await servePage();
});

const MEAN =
  "SELECT trade_date, avg(close) AS close, sum(vol) AS vol\nFROM daily WHERE trade_date >= $from GROUP BY 1 ORDER BY 1";

/** The view with a statement and the typed values of its parameters. */
const opened = (sql: string, values: Record<string, string> = {}, options = {}): Promise<OpenPage> => {
  const search = new URLSearchParams({ q: sql, values: JSON.stringify(values) });
  return enter(server, `#/sql?${search.toString()}`, options);
};

const ask = async (page: Page): Promise<void> => {
  await page.getByRole("textbox", { name: "Statement" }).press("Control+Enter");
  await page.locator(".results:not([aria-busy]) .rows, .trouble").waitFor();
};

const rowsOf = async (page: Page): Promise<string[]> =>
  (await page.getByRole("region", { name: "Rows" }).locator("tbody tr").allInnerTexts()).map((row) =>
    row.replaceAll("\t", " "),
  );

describeInBrowser("a statement", () => {
  test("is run by Ctrl+Enter with the values of its parameters, and shows its rows as a table and as lines", async () => {
    const { page, complaints } = await opened(MEAN, { from: "20241227" });
    expect(await page.getByLabel("$from").inputValue()).toBe("20241227");
    await ask(page);
    expect(await rowsOf(page)).toEqual(["20241227 11 3000", "20241230 11 3000", "20241231 11 3000"]);
    const { data_version } = await server.json("/api/v1/entities/daily?limit=1");
    await page.getByText(`3 rows, whole · ${data_version}`).waitFor();
    await page.getByText("Chart of close, vol: 3 days from 2024-12-27 to 2024-12-31.").waitFor();
    const reading = page.locator(".reading");
    expect(await reading.innerText()).toMatch(/^2024-12-31\s+close 11\s+vol 3,000$/);
    await page.getByRole("application").press("ArrowLeft");
    expect(await reading.innerText()).toContain("2024-12-30");
    const drawn = (): Promise<Buffer> => page.locator(".canvas").screenshot();
    const both = await drawn();
    await page.getByRole("checkbox", { name: "vol" }).uncheck();
    expect((await drawn()).equals(both)).toBe(false);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  test("stays in the address, so that a link or a reload brings it back", async () => {
    const { page } = await opened("SELECT 1 AS one");
    await page.getByRole("textbox", { name: "Statement" }).fill("SELECT $text AS text, $list AS list, $none AS none");
    await page.getByLabel("$text").fill('"20240105"');
    await page.getByLabel("$list").fill("1, 2.5");
    await page.getByLabel("Rows at most").selectOption("100");
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator(".results .rows").waitFor();
    expect(await rowsOf(page)).toEqual(["20240105 [1.0,2.5] null"]);
    await page.reload();
    expect(await page.getByLabel("$list").inputValue()).toBe("1, 2.5");
    expect(await page.getByLabel("Rows at most").inputValue()).toBe("100");
  });

  test("with more rows than the limit says so, and its lines are those of each code", async () => {
    const { page } = await opened("SELECT trade_date, ts_code, close FROM daily ORDER BY 1, 2");
    await page.getByLabel("Rows at most").selectOption("100");
    await ask(page);
    expect(await rowsOf(page)).toHaveLength(100);
    await page.getByText("100 rows, there are more: choose a higher limit, or download all").waitFor();
    await page.getByText(/^Chart of 000001\.SZ, 600036\.SH, 600519\.SH, 300750\.SZ: 33 days/).waitFor();
  });

  test("without a column of days has no chart, and what would be markup is text", async () => {
    const { page, complaints } = await opened("SELECT title, count(*) AS n FROM anns_d GROUP BY 1");
    await ask(page);
    expect(await rowsOf(page)).toEqual([`${MARKUP} 5`]);
    expect([await page.locator(".canvas").count(), await page.locator("main img").count()]).toEqual([0, 0]);
    expect(complaints).toEqual([]);
  });

  test("with a mistake shows it beside the statement, with the line and the word, until it is run again", async () => {
    const { page } = await opened("SELECT trade_date,\n  clsoe AS price FROM daily");
    const statement = page.getByRole("textbox", { name: "Statement" });
    await ask(page);
    const alert = page.locator(".field").getByRole("alert");
    expect(await alert.innerText()).toMatch(/clsoe[^]*Line 2, column 3/);
    expect(await alert.locator("mark").innerText()).toBe("clsoe");
    expect(await statement.getAttribute("aria-invalid")).toBe("true");
    const selected =
      "(({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))(document.activeElement)";
    expect(await page.evaluate(selected)).toBe("clsoe");
    await expectAccessible(page);
    await statement.fill("SELECT 1 AS one");
    await ask(page);
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(await rowsOf(page)).toEqual(["1"]);
  });

  test.each(["json", "ndjson", "csv", "arrow", "parquet"])("is downloaded as %s with all its rows", async (format) => {
    const sql = "SELECT ts_code, trade_date, close FROM daily ORDER BY 1, 2";
    const { page, complaints } = await opened(sql);
    await page.getByLabel("Rows at most").selectOption("100");
    await page.getByLabel("Format").selectOption(format);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download" }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(new RegExp(`^sql_.*\\.${format === "arrow" ? "arrows" : format}$`));
    const answer = await server.get(`/api/v1/sql?${new URLSearchParams({ q: sql, format }).toString()}`);
    expect(await readFile(await download.path())).toEqual(Buffer.from(await answer.arrayBuffer()));
    await page.getByText("is complete").waitFor();
    expect(complaints).toEqual([]);
  });

  test("fits on a phone, with its chart and its mistakes, in both languages and in the dark", async () => {
    for (const locale of ["en-GB", "zh-CN"]) {
      const options = { locale, viewport: { width: 360, height: 740 }, colorScheme: "dark", hasTouch: true };
      const { page } = await opened(MEAN, { from: "20240601" }, options);
      const beyond = `[...document.querySelectorAll("body *")]
        .filter((element) => !element.closest(".rows, pre, .quiet, .skip, .canvas, thead"))
        .filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5)
        .map((element) => element.outerHTML.slice(0, 120))`;
      for (const sql of [MEAN, `SELECT ${"x".repeat(200)} FROM daily`]) {
        await page.locator("textarea").fill(sql);
        await page.locator("button.primary").click();
        await page.locator(".results:not([aria-busy]) .rows, .trouble").waitFor();
        expect(await page.evaluate(beyond)).toEqual([]);
        await expectAccessible(page);
      }
    }
  });
});

describeInBrowser("the examples", () => {
  test("find rows on the demo market", async () => {
    const demo = await serve(await demoLake({ days: 500 }));
    const { page, complaints } = await enter(demo, "#/sql");
    for (const { title } of EXAMPLES) {
      await page.getByLabel("Example").selectOption(textsOf("en")(title));
      await page.locator(".results:not([aria-busy]) :is(.rows, .trouble)").waitFor();
      expect((await rowsOf(page)).length, title).toBeGreaterThan(1);
    }
    expect(complaints).toEqual([]);
  });
});

describeInBrowser("who may not run SQL", () => {
  const enterAs = async (url: string, token: string): Promise<Page> => {
    const { page, complaints } = await openPage(url);
    await page.goto(`${url}/#/sql`);
    await page.locator("input[type=password]").fill(token);
    await page.keyboard.press("Enter");
    await page.locator("nav a[aria-current=page]").waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
    return page;
  };

  test("sees that SQL is not allowed, and how to get a token that allows it", async () => {
    const { root } = server.context.lake.layout;
    const token = await createToken(root, "plain", { entities: ["daily"], expires: null }, new Date());
    const page = await enterAs(server.url, token);
    expect(await page.getByRole("alert").innerText()).toMatch(/may not run SQL[^]*tapehouse token create NAME --sql/);
    const without = await serve(root, { sqlProcesses: "0" });
    const other = await enterAs(without.url, TOKEN);
    expect(await other.getByRole("alert").innerText()).toMatch(/This server runs no SQL[^]*--sql-processes/);
  });

  test("or may not read an entity of the statement, is told which", async () => {
    const { root } = server.context.lake.layout;
    const options = { entities: ["daily", "sql"], expires: null };
    const page = await enterAs(server.url, await createToken(root, "analyst", options, new Date()));
    await page.getByRole("textbox", { name: "Statement" }).fill("SELECT * FROM income");
    await ask(page);
    await page.locator(".field").getByRole("alert").getByText("this token may not read income").waitFor();
  });
});

describeInBrowser("the code to take away", () => {
  const env = { ...process.env, TOKEN, PYTHONPATH: join(ROOT, "clients/python/src"), PYTHONDONTWRITEBYTECODE: "1" };
  const STATEMENT = `SELECT ts_code, max(trade_date) AS day, 'it''s "quoted" $x' AS text
FROM daily WHERE ts_code IN $codes AND trade_date >= $from AND close > $least
GROUP BY 1 ORDER BY 1`;
  const VALUES = { codes: "000001.SZ, 600519.SH", from: "20241230", least: "10.5" };

  const copyOf = async (tool: string): Promise<string> => {
    const { page } = await opened(STATEMENT, VALUES);
    await page.getByRole("tab", { name: tool, exact: true }).click();
    return page.getByRole("tabpanel").locator("code").innerText();
  };

  test("works as a curl line", async () => {
    const { stdout } = await run("sh", ["-c", await copyOf("curl")], { env });
    expect(JSON.parse(stdout)).toMatchObject({
      rows: [
        ["000001.SZ", "20241231", 'it\'s "quoted" $x'],
        ["600519.SH", "20241231", 'it\'s "quoted" $x'],
      ],
    });
  });

  test("works in TypeScript", async () => {
    const script = join(await temporaryFolder(), "pull.mts");
    const own = JSON.stringify(join(ROOT, "src/client/index.ts"));
    await writeFile(script, (await copyOf("TypeScript")).replace('"tapehouse/client"', own));
    const { stdout } = await run(process.execPath, ["--import", "tsx", script], { env, cwd: ROOT });
    expect(stdout).toMatch(/000001\.SZ[^]*600519\.SH/);
  });

  test("works on the command line", async () => {
    const line = (await copyOf("CLI")).replace(/^tapehouse/, `'${process.execPath}' '${join(ROOT, "dist/main.js")}'`);
    const { stdout } = await run("sh", ["-c", `${line} --data '${server.context.lake.layout.root}' --format csv`], {
      env,
    });
    expect(stdout).toBe(
      'ts_code,day,text\n000001.SZ,20241231,"it\'s ""quoted"" $x"\n600519.SH,20241231,"it\'s ""quoted"" $x"\n',
    );
  });

  test.skipIf(!existsSync(PYTHON)).each([
    ["pandas", "datetime64["],
    ["polars", "Date"],
  ])("works in %s, with real dates (skipped where .ci/run has not made .venv)", async (tool, type) => {
    const script = join(await temporaryFolder(), "pull.py");
    await writeFile(script, `${await copyOf(tool)}\nprint(frame.shape, frame["day"].dtype)`);
    const { stdout } = await run(PYTHON, [script], { env });
    expect(stdout).toContain(`(2, 3) ${type}`);
  });
});

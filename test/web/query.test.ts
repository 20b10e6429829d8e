// A question put together in the page: its rows, its pages, its versions, and the code that asks the same elsewhere.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "../support/browser.js";
import { temporaryFolder } from "../support/folders.js";
import { enter, expectAccessible, MARKUP, servePage } from "../support/page.js";
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
    await page.getByLabel("From").fill("2024-12-30");
    await page.getByLabel("Rows at most").fill("3");
    await page.locator("summary", { hasText: "Fields" }).click();
    for (const name of ["ts_code", "trade_date", "close"]) await page.getByLabel(name, { exact: true }).check();
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
    await page.getByLabel("Known on (as_of)").fill("2024-01-02");
    await ask(page);
    const announced = await rowsOf(page);
    expect(announced.map((row) => row.slice(0, 8))).toEqual(["20240101", "20240102"]);
    // What would be markup is text.
    expect(announced[0]).toContain(MARKUP);
    expect(await page.locator("main img").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("that is refused shows the detail and the hint of the problem", async () => {
    const { page } = await enter(server, "#/query?entity=daily");
    await page.getByLabel("From").fill("2024-12-31");
    await page.getByLabel("To").fill("2024-01-01");
    await ask(page);
    const told = (await (await server.get("/api/v1/entities/daily?start_date=20241231&end_date=20240101")).json()) as {
      detail: string;
      hint?: string;
    };
    const shown = await page.getByRole("alert").innerText();
    expect(shown).toContain(told.detail);
    expect(shown).toContain(told.hint ?? "");
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
    expect((await connection.runAndReadAll(sql)).getRows()).toHaveLength(3);
  });

  test.skipIf(!existsSync(PYTHON)).each(["pandas", "polars"])(
    "works in %s (skipped where .ci/run has not made .venv)",
    async (tool) => {
      const page = await opened();
      const script = join(await temporaryFolder(), "pull.py");
      await writeFile(script, `${await copyOf(page, tool)}\nprint(frame.shape)`);
      const { stdout } = await run(PYTHON, [script], { env });
      expect(stdout).toContain("(3, 11)");
    },
  );
});

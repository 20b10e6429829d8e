// The page in Chinese: every view is walked, and no English is found but names that are code.
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { API_NAMES } from "../../src/catalog/tushare.js";
import { ENTITIES, ENTITY_NAMES } from "../../src/catalog/index.js";
import { FORMAT_NAMES } from "../../src/catalog/formats.js";
import { parameterNames } from "../../src/catalog/parameters.js";
import { createToken } from "../../src/store/tokens.js";
import { EXAMPLES } from "../../src/web/sql-examples.js";
import { describeInBrowser, openPage } from "../support/browser.js";
import { enter, expectAccessible, servePage } from "../support/page.js";
import type { TestServer } from "../support/server.js";

let server: TestServer;

beforeAll(async () => {
  server = await servePage();
});

const CHINESE = { locale: "zh-CN" };

/** Names that Chinese readers know as they are: of exchanges, products and tools, and abbreviations of the market. */
const NAMES =
  "Tapehouse English SQL SELECT sql CLI A K ETF TTM STK SSE SZSE CSI L1 L2 L3 TOKEN URL curl pandas polars DuckDB TypeScript " +
  "TradingView Lightweight Charts Inc YYYYMMDD Excel null kB MB MA5 MA20 MA60 " +
  FORMAT_NAMES.join(" ");

const CODE_LIKE = new Set([
  ...NAMES.split(" "),
  ...API_NAMES,
  ...ENTITY_NAMES,
  ...EXAMPLES.flatMap(({ sql }) => sql.match(/\w+/g)!),
  ...ENTITIES.flatMap((entity) => [...parameterNames(entity), ...entity.columns.map(({ name }) => name)]),
]);

/** Names of files, codes of securities, versions of the lake, and the command that makes a token. */
const CODES = /\b[\w.-]+\.csv\b|\b\d{6}\.[A-Z]{2}\b|\d{4}-\d\d-\d\dT[\d:.]+(?:\+08:00)?|tapehouse token create NAME/g;

/** What a person reads, hears or is shown on pointing, without snippets and the cells of results. */
const READ_ALL = `(() => {
  const found = [];
  const left = "pre, .rows tbody, script, style";
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest(left)) found.push(walker.currentNode.data);
  for (const element of document.querySelectorAll("[title], [aria-label], [placeholder], optgroup")) {
    if (element.closest(left)) continue;
    for (const name of ["title", "aria-label", "placeholder", "label"]) found.push(element.getAttribute(name) ?? "");
  }
  return [document.title, ...found];
})()`;

async function expectChinese(page: Page): Promise<void> {
  const texts = await page.evaluate<string[]>(READ_ALL);
  const words = texts.flatMap((text) => text.replaceAll(CODES, "").match(/[A-Za-z]\w*/g) ?? []);
  expect([...new Set(words.filter((word) => !CODE_LIKE.has(word)))]).toEqual([]);
  expect(texts.join("")).toMatch(/[一-鿿]{2}/);
}

describeInBrowser("the page in Chinese holds no English", () => {
  test("where a token is asked for and refused", async () => {
    const { page } = await openPage(server.url, CHINESE);
    await page.goto(server.url);
    await page.getByLabel("访问令牌").fill("wrong");
    await expectChinese(page);
    await page.getByRole("button", { name: "登录" }).click();
    await page.getByRole("alert").getByText("访问令牌无效").waitFor();
    await expectChinese(page);
  });

  test("in the catalog, which is searched by Chinese names of columns", async () => {
    const { page } = await enter(server, "", CHINESE);
    await expectChinese(page);
    await page.getByLabel("搜索数据表或字段").fill("涨停价");
    await page.getByText("共 1 张数据表").waitFor();
    expect(await page.getByRole("row", { name: /^stk_limit\s?涨跌停价格/ }).count()).toBe(1);
  });

  test("on the page of any entity, with the meaning and unit of each column, and its gaps", async () => {
    const { page, complaints } = await enter(server, "#/entity/daily", CHINESE);
    await page.getByText("共 2 处缺失").waitFor();
    const volume = page.getByRole("row", { name: /^vol / });
    expect(await volume.getByRole("cell").allTextContents()).toEqual(["数值，可为空", "手", "成交量"]);
    for (const summary of await page.locator("summary").all()) await summary.click();
    await page.locator("rect.few[data-day]").hover();
    await page.getByText("2024-03-05：缺 1 只").waitFor();
    for (const { name, chinese } of ENTITIES) {
      await page.goto(`${server.url}/#/entity/${name}`);
      await page.getByRole("heading", { name: `${chinese.title} ${name}` }).waitFor();
      await page.locator("main:not(:has([aria-busy]))").waitFor();
      await expectChinese(page);
    }
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  test("in the chart", async () => {
    const { page } = await enter(server, "#/chart/600519.SH", CHINESE);
    await page.getByText("贵州茅台 600519.SH（不复权）：2024-01-01 至 2024-12-31，共 261 个交易日").waitFor();
    await expectChinese(page);
    await page.goto(`${server.url}/#/chart/999999.SZ`);
    await page.getByText("没有 999999.SZ 的日线行情").waitFor();
    await expectChinese(page);
  });

  test("in a query, its rows, and what is wrong with it", async () => {
    const { page } = await enter(server, "#/query?entity=daily", CHINESE);
    for (const summary of await page.locator("summary").all()) await summary.click();
    await page.getByRole("button", { name: "查询", exact: true }).click();
    const close = page.getByRole("columnheader", { name: "close 收盘价", exact: true });
    expect(await close.getAttribute("title")).toBe("收盘价，单位：元（交易币种）");
    await expectChinese(page);
    await page.getByLabel("代码（ts_code）").fill("600519");
    await page.getByRole("button", { name: "查询", exact: true }).click();
    await page.locator(".field").getByRole("alert").getByText("参数值无效：ts_code").waitFor();
    await expectChinese(page);
    await page.goto(`${server.url}/#/query?entity=anns_d&as_of=20240101,20240102`);
    await page.getByLabel("时点（as_of）").waitFor();
    await page.getByRole("button", { name: "查询", exact: true }).click();
    await page.getByRole("columnheader", { name: "as_of 时点", exact: true }).waitFor();
    await page.getByRole("button", { name: "下载" }).click();
    await page.getByText(/anns_d_.*\.csv 下载完成/).waitFor();
    await expectChinese(page);
    await page.goto(`${server.url}/#/query?entity=dayly`);
    await page.getByRole("alert").getByText("没有这个数据表").waitFor();
    await page.goto(`${server.url}/#/query?entity=fina_indicator`);
    await page.getByLabel("roe_waa").waitFor({ state: "attached" });
    await expectChinese(page);
  });

  test("in SQL, its rows and lines, and what is wrong with it", async () => {
    const { page, complaints } = await enter(server, "#/sql", CHINESE);
    for (const [index] of EXAMPLES.entries()) {
      await page.getByLabel("示例", { exact: true }).selectOption(String(index));
      await page.locator(".results:not([aria-busy]) > :nth-child(2)").waitFor();
      await expectChinese(page);
    }
    await page.getByRole("button", { name: "下载" }).click();
    await page.getByText(/sql_.*\.csv 下载完成/).waitFor();
    expect(complaints).toEqual([]);
    await page.getByLabel("语句").fill("SELECT clsoe FROM daily");
    await page.getByRole("button", { name: "查询", exact: true }).click();
    await page.locator(".field").getByRole("alert").getByText("第 1 行，第 8 列").waitFor();
    await expectChinese(page);
  });

  test("where a token covers little", async () => {
    const { root } = server.context.lake.layout;
    const secret = await createToken(root, "narrow", { entities: ["daily"], expires: null }, new Date());
    const { page } = await openPage(server.url, CHINESE);
    await page.goto(`${server.url}/#/entity/daily`);
    await page.getByLabel("访问令牌").fill(secret);
    await page.keyboard.press("Enter");
    await page.getByText("令牌无权访问交易日历").waitFor();
    await expectChinese(page);
    await page.goto(`${server.url}/#/sql`);
    await page.getByRole("alert").getByText("该访问令牌无权执行 SQL。").waitFor();
    await expectChinese(page);
  });
});

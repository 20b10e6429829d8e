// Who comes in, and what they find: catalog, entities and their gaps, in their language and light, by mouse or keys.
import { beforeAll, expect, test } from "vitest";
import { ENTITIES, entityNamed } from "../../src/catalog/index.js";
import { excuseGaps } from "../../src/store/gaps.js";
import { createToken } from "../../src/store/tokens.js";
import { describeInBrowser, openPage } from "../support/browser.js";
import { enter, expectAccessible, MARKUP, servePage } from "../support/page.js";
import { TOKEN, type TestServer } from "../support/server.js";

let server: TestServer;

beforeAll(async () => {
  server = await servePage();
});

describeInBrowser("a token", () => {
  test("is asked for; a wrong one is refused in words, a right one opens the catalog", async () => {
    const { page, complaints } = await openPage(server.url);
    await page.goto(server.url);
    await page.getByLabel("Access token").fill("wrong");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("alert").getByText("not accepted").waitFor();
    expect(complaints.filter((text) => !text.includes("401"))).toEqual([]);
    await page.getByLabel("Access token").fill(TOKEN);
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("heading", { name: "Catalog" }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  test("is kept for the tab only, and forgotten on demand", async () => {
    const { page } = await enter(server, "");
    await page.reload();
    await page.getByRole("heading", { name: "Catalog" }).waitFor();
    const kept = await page.evaluate("[JSON.stringify(localStorage), document.cookie, location.href].join()");
    expect(kept).not.toContain(TOKEN);
    const other = await page.context().newPage();
    await other.goto(server.url);
    await other.getByLabel("Access token").waitFor();
    await page.getByRole("button", { name: "Forget token" }).click();
    await page.getByLabel("Access token").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  test("with a list of entities shows which are not covered", async () => {
    const { root } = server.context.lake.layout;
    const secret = await createToken(root, "narrow", { entities: ["daily"], expires: null }, new Date());
    const { page } = await openPage(server.url);
    await page.goto(server.url);
    await page.getByLabel("Access token").fill(secret);
    await page.keyboard.press("Enter");
    const weekly = page.getByRole("row", { name: /^weekly/ });
    expect(await weekly.innerText()).toContain("not covered by this token");
    await page.getByRole("link", { name: "daily", exact: true }).click();
    await page.getByText("every weekday is taken for a trading day").waitFor();
  });
});

describeInBrowser("an address that was cut or mistyped", () => {
  test.each(["#/chart/%E8%B4", "#/entity/%zz", "#/entity", "#/nowhere"])(
    "%s opens a view all the same",
    async (place) => {
      const { page, complaints } = await openPage(server.url);
      await page.goto(`${server.url}/${place}`);
      await page.getByLabel("Access token").fill(TOKEN);
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Forget token" }).waitFor();
      expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
      expect(complaints.filter((text) => !/40[04]/.test(text))).toEqual([]);
    },
  );
});

describeInBrowser("an entity that is none", () => {
  test.each(["#/entity/dayly", "#/query?entity=dayly"])(
    "at %s is called so, with the nearest name and all names",
    async (place) => {
      const { page } = await enter(server, place);
      await page.getByRole("heading", { name: "There is no such entity: dayly" }).waitFor();
      const said = await page.getByRole("alert").innerText();
      expect(said).toMatch(/there is no entity "dayly"[^]*did you mean daily\?[^]*daily, weekly, monthly/);
      expect(await page.getByRole("table").count()).toBe(0);
      await expectAccessible(page);
      await page.getByRole("link", { name: "catalog" }).first().click();
      await page.getByRole("heading", { name: "Catalog" }).waitFor();
    },
  );
});

describeInBrowser("the catalog", () => {
  test("tells what each entity covers, and is searched by name and column", async () => {
    const { page, complaints } = await enter(server, "");
    const daily = page.getByRole("row", { name: /^daily\s?Daily quotes/ });
    expect(await daily.getByRole("cell").allTextContents()).toEqual(["2024-01-01", "2024-12-31", "783", "available"]);
    expect(await page.getByRole("row", { name: /^weekly/ }).innerText()).toContain("no data yet");
    await page.getByText(`8 of ${ENTITIES.length} entities with data`).waitFor();
    await page.getByLabel("Search entities and columns").fill("adj_f");
    await page.getByText("1 entities").waitFor();
    expect(await page.getByRole("row", { name: /^adj_factor/ }).count()).toBe(1);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });
});

describeInBrowser("an entity without dates", () => {
  test("shows none instead of the day of its import", async () => {
    const { page } = await enter(server, "");
    const row = page.getByRole("row", { name: /^stock_company/ });
    expect(await row.getByRole("cell").allTextContents()).toEqual(["", "", "1", "available"]);
    await page.goto(`${server.url}/#/entity/stock_company`);
    await page.getByRole("heading", { name: "Companies" }).waitFor();
    expect(await page.locator(".facts dd").allTextContents()).toEqual(["–", "–", "1"]);
  });
});

describeInBrowser("an entity", () => {
  test("shows its columns with types and units, and its gaps as a calendar, in words and as a table", async () => {
    const { page, complaints } = await enter(server, "");
    await page.getByRole("link", { name: "daily", exact: true }).click();
    await page.getByRole("heading", { name: "Daily quotes" }).waitFor();
    const volume = page.getByRole("row", { name: /^vol / });
    expect(await volume.getByRole("cell").allTextContents()).toEqual(["float64, null", "lots", "Volume"]);

    await page.getByText("Gaps: 2, on 2 days").waitFor();
    const year = page.getByRole("img", { name: "2024: 262 trading days, 1 without any row, 1 with missing rows" });
    expect(await year.locator("rect").count()).toBe(366);
    expect(await year.locator("rect.none").getAttribute("data-day")).toBe("20240612");
    expect(await year.locator("rect.few").getAttribute("data-day")).toBe("20240305");
    await year.locator("rect.few").hover();
    await page.getByText("2024-03-05: 1 missing").waitFor();
    await page.locator("summary", { hasText: "Gaps as a list" }).click();
    const list = page.getByRole("region", { name: "Gaps as a list" }).getByRole("row");
    expect(await list.allInnerTexts()).toEqual([
      "Code\tFirst day\tLast day\tKind",
      "000001.SZ\t2024-03-05\t2024-03-05\tmissing",
      "whole market\t2024-06-12\t2024-06-12\tmissing_day",
    ]);
    await page.locator("summary", { hasText: "By year" }).click();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  test("shows what its columns hold once that is opened", async () => {
    const { page, complaints } = await enter(server, "#/entity/daily");
    const asked = page.waitForRequest((request) => request.url().endsWith("/daily/statistics"));
    await page.locator("summary", { hasText: "Statistics of the columns" }).click();
    await asked;
    const rows = page.getByRole("region", { name: "Statistics of the columns" }).getByRole("row");
    await rows.first().waitFor();
    const texts = await rows.allInnerTexts();
    expect(texts.slice(0, 4)).toEqual([
      "Column\tMissing\tDistinct\tLeast\tGreatest\tLast day with a value",
      "ts_code\t0\t4\t000001.SZ\t600519.SH\t2024-12-31",
      "trade_date\t0\t261\t2024-01-01\t2024-12-31\t2024-12-31",
      "open\t0\t1\t10\t10\t2024-12-31",
    ]);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  test("shows what the last versions changed once that is opened", async () => {
    const { page, complaints } = await enter(server, "#/entity/daily");
    await page.locator("summary", { hasText: "What the last versions changed" }).click();
    const rows = page.getByRole("region", { name: "What the last versions changed" }).getByRole("row");
    await rows.first().waitFor();
    expect((await rows.allInnerTexts()).map((text) => text.replace(/^\d{4}-\S+/, "VERSION"))).toEqual([
      "Data version\tRows added\tRows removed\tRows changed\tFirst day\tLast day",
      "VERSION\t1\t0\t0\t2024-01-02\t2024-01-02",
    ]);
    await page.goto(`${server.url}/#/entity/anns_d`);
    await page.locator("summary", { hasText: "What the last versions changed" }).click();
    await page.getByText("No kept version changed rows of this entity.").waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  test("shows gaps that the operator excused apart from open ones, with the reason", async () => {
    const own = await servePage();
    const { root } = own.context.lake.layout;
    const day = { start: "20240305", end: "20240305", code: "000001.SZ" };
    await excuseGaps(root, entityNamed("daily")!, { ...day, reason: `the vendor has no bar ${MARKUP}` }, new Date());
    const { page, complaints } = await enter(own, "#/entity/daily");
    await page.getByText("Gaps: 1, on 1 days").waitFor();
    await page.getByText("Excused by the operator: 1, not counted as gaps.").waitFor();
    const year = page.getByRole("img", { name: "1 without any row, 0 with missing rows, 1 excused" });
    expect(await year.locator("rect.few").count()).toBe(0);
    await year.locator("rect.excused").hover();
    await page.getByText("2024-03-05: excused").waitFor();
    const listOf = async (title: string): Promise<readonly string[]> => {
      await page.locator("summary", { hasText: title }).click();
      return page.getByRole("region", { name: title }).locator("tbody tr").allInnerTexts();
    };
    expect(await listOf("Gaps as a list")).toEqual(["whole market\t2024-06-12\t2024-06-12\tmissing_day"]);
    expect(await listOf("Excused gaps with their reasons")).toEqual([
      `000001.SZ\t2024-03-05\t2024-03-05\tmissing\tthe vendor has no bar ${MARKUP}`,
    ]);
    expect(await page.locator("main img").count()).toBe(0);
    await expectAccessible(page);

    const rest = { start: "20240612", end: "20240612", code: null, reason: "the exchange was closed" };
    await excuseGaps(root, entityNamed("daily")!, rest, new Date());
    await page.reload();
    await page.getByText("No open gaps from 2024-01-01 to 2024-12-31.").waitFor();
    expect(await page.locator("summary", { hasText: "Gaps as a list" }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("without fixed days says that gaps are not computed", async () => {
    const { page } = await enter(server, "#/entity/anns_d");
    await page.getByText("only gaps that the operator recorded are shown").waitFor();
    expect(await page.locator("svg rect").count()).toBe(0);
  });
});

describeInBrowser("language and light", () => {
  test("are those of the browser at first, and switched and kept after that", async () => {
    const { page, complaints } = await enter(server, "", { locale: "zh-CN", colorScheme: "dark" });
    await page.getByRole("heading", { name: "目录" }).waitFor();
    await page.getByText("日线行情", { exact: true }).waitFor();
    expect(await page.locator("html").getAttribute("lang")).toBe("zh-CN");
    const ground = "getComputedStyle(document.body).backgroundColor";
    const dark = await page.evaluate(ground);
    await expectAccessible(page);
    await page.getByLabel("浅色").check();
    const light = await page.evaluate(ground);
    expect([dark, light]).toEqual(["rgb(17, 22, 28)", "rgb(255, 255, 255)"]);
    await page.getByLabel("English").check();
    await page.getByRole("heading", { name: "Catalog" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Catalog" }).waitFor();
    expect([await page.evaluate(ground), await page.getByLabel("Light").isChecked()]).toEqual([light, true]);
    expect(complaints).toEqual([]);
  });
});

describeInBrowser("the keyboard alone", () => {
  test("leads past the head, through the sections and to an entity", async () => {
    const { page } = await enter(server, "");
    const focused = (): Promise<unknown> =>
      page.evaluate("document.activeElement.textContent || document.activeElement.value");
    await page.reload();
    await page.getByRole("heading", { name: "Catalog" }).waitFor();
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Skip to content");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.id")).toBe("content");
    await page.keyboard.press("Tab");
    await page.keyboard.type("stock_company");
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("stock_company");
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Companies" }).waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("content");
  });

  test("switches the language and stays on the switch", async () => {
    const { page } = await enter(server, "");
    await page.getByLabel("English").focus();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("heading", { name: "目录" }).waitFor();
    expect(await page.evaluate("document.activeElement.value")).toBe("zh");
  });
});

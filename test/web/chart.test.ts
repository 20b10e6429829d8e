// The chart of a stock or an index: chosen by keys, drawn, told in words, adjusted.
import { beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "../support/browser.js";
import { enter, expectAccessible, servePage } from "../support/page.js";
import type { TestServer } from "../support/server.js";

let server: TestServer;

beforeAll(async () => {
  server = await servePage();
});

const ABOUT = "days from 2024-01-01 to 2024-12-31. Last close";

describeInBrowser("a chart", () => {
  test("is drawn for a stock that is searched by name and chosen with the keys, and told in words", async () => {
    const { page, complaints } = await enter(server, "#/chart");
    const stock = page.getByRole("combobox", { name: "Stock or index: code or name" });
    await stock.pressSequentially("银行");
    await page.getByText("2 found").waitFor({ state: "attached" });
    expect(await page.getByRole("option").allInnerTexts()).toEqual(["000001.SZ 平安银行", "600036.SH 招商银行"]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    expect(await page.getByRole("option", { selected: true }).innerText()).toContain("600036.SH");
    await page.keyboard.press("Enter");
    await page.getByText(`招商银行 600036.SH, not adjusted: 261 ${ABOUT} 11.00, lowest 9.00, highest 12.00.`).waitFor();
    expect([await stock.inputValue(), new URL(page.url()).hash]).toEqual(["600036.SH", "#/chart/600036.SH"]);

    const canvas = page.locator(".canvas canvas").first();
    const { width, height } = (await canvas.boundingBox())!;
    expect([width > 500, height > 200]).toEqual([true, true]);
    const legend = page.getByRole("status").filter({ hasText: "Open" });
    expect(await legend.innerText()).toMatch(
      /^2024-12-31\s*Open 10.00\s*High 12.00\s*Low 9.00\s*Close 11.00\s*Volume 1,000 lots\s*Change \+10.00%\s*MA5 11.00\s*MA20 11.00\s*MA60 11.00$/,
    );
    await page.locator(".canvas").focus();
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("status").filter({ hasText: "2024-12-30" }).waitFor();
    await page.keyboard.press("Home");
    await page.getByRole("status").filter({ hasText: "2024-01-01" }).waitFor();
    // As the entity has it: before the first bar there is no close to compare with.
    expect(await legend.innerText()).toMatch(/Volume 1,000 lots\s*Change \+10.00%$/);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  test("is adjusted on a switch, and keeps its makers' name", async () => {
    const { page, complaints } = await enter(server, "#/chart/600519.SH", { colorScheme: "dark" });
    await page.getByText(`not adjusted: 261 ${ABOUT} 11.00, lowest 9.00, highest 12.00.`).waitFor();
    await page.getByLabel("Forward").check();
    await page.getByText(`adjusted forward: 261 ${ABOUT} 11.00, lowest 4.50, highest 12.00.`).waitFor();
    await page.getByLabel("Backward").check();
    await page.getByText(`adjusted backward: 261 ${ABOUT} 22.00, lowest 9.00, highest 24.00.`).waitFor();
    await page.getByLabel("Light").check();
    await page.getByLabel("All", { exact: true }).check();
    const makers = page.getByRole("link", { name: "TradingView" });
    expect(await makers.getAttribute("href")).toBe("https://www.tradingview.com/");
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  test("sums up what is on screen: the last year, or the days between two dates", async () => {
    const { page, complaints } = await enter(server, "#/chart/600519.SH");
    await page.getByText(`贵州茅台 600519.SH, not adjusted: 261 ${ABOUT}`).waitFor();
    await page.getByRole("textbox", { name: "From" }).fill("20240301");
    await page.getByRole("textbox", { name: "To" }).fill("20240331");
    await page.getByRole("textbox", { name: "To" }).press("Enter");
    await page.getByText("21 days from 2024-03-01 to 2024-03-29.").waitFor();
    await page.getByRole("textbox", { name: "From" }).fill("1 March");
    await page.getByRole("textbox", { name: "From" }).press("Enter");
    await page.locator(".field").getByRole("alert").getByText("Enter the date as YYYYMMDD.").waitFor();
    await page.getByRole("textbox", { name: "From" }).fill("20240401");
    await page.getByRole("textbox", { name: "From" }).press("Enter");
    await page.getByText("There are no bars in this period.").waitFor();
    await expectAccessible(page);
    await page.getByLabel("All", { exact: true }).check();
    await page.getByText(`261 ${ABOUT}`).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("joins days to weeks and months, and marks ex-days", async () => {
    const { page, complaints } = await enter(server, "#/chart/600519.SH");
    await page.getByText(`261 ${ABOUT}`).waitFor();
    const legend = page.getByRole("status").filter({ hasText: "Open" });
    await page.getByLabel("Week", { exact: true }).check();
    await page.getByText("53 weeks from 2024-01-05 to 2024-12-31.").waitFor();
    expect(await legend.innerText()).toMatch(/Volume 2,000 lots\s*Change \+21.00%/);
    await page.getByLabel("Month", { exact: true }).check();
    await page.getByText("12 months from 2024-01-31 to 2024-12-31.").waitFor();
    const told: string[] = [];
    await page.locator(".canvas").focus();
    for (let month = 12; month > 5; month--) {
      if ((await legend.innerText()).includes("ex-day")) told.push((await legend.innerText()).slice(0, 10));
      await page.keyboard.press("ArrowLeft");
    }
    expect(told).toEqual(["2024-07-31"]);
    expect(complaints).toEqual([]);
  });

  test("is that of an index as well, which is never adjusted", async () => {
    const { page, complaints } = await enter(server, "#/chart");
    await page.getByRole("combobox").pressSequentially("沪深");
    await page.getByText("1 found").waitFor({ state: "attached" });
    await page.keyboard.press("Enter");
    await page.getByText("沪深300 000300.SH, not adjusted: 23 days").waitFor();
    await page.getByLabel("Forward").check();
    await page.getByText("沪深300 000300.SH, not adjusted: 23 days").waitFor();
    await page.getByText("+1.50%").waitFor();
    expect(complaints).toEqual([]);
  });

  test("has rising prices in the colour of its language until that is switched", async () => {
    const { page } = await enter(server, "#/chart/600519.SH", { colorScheme: "light" });
    const colour = async (): Promise<unknown> => {
      await page.locator("b.up").waitFor();
      return page.evaluate("getComputedStyle(document.querySelector('b.up')).color");
    };
    const [red, green] = ["rgb(198, 47, 47)", "rgb(10, 122, 77)"];
    expect(await colour()).toBe(green);
    await page.getByLabel("中文").check();
    await page.getByLabel("绿涨红跌").waitFor({ state: "attached" });
    expect(await colour()).toBe(red);
    await page.getByLabel("绿涨红跌").check();
    expect(await colour()).toBe(green);
    await page.reload();
    expect([await colour(), await page.getByLabel("绿涨红跌").isChecked()]).toEqual([green, true]);
  });

  test("draws averages and a logarithmic scale on demand", async () => {
    const { page, complaints } = await enter(server, "#/chart/600519.SH");
    const legend = page.getByRole("status").filter({ hasText: "Open" });
    await legend.getByText("MA60").waitFor();
    // The canvas without averages is another picture, and so is that with another scale.
    const picture = async (): Promise<string> => (await page.locator(".canvas").screenshot()).toString("base64");
    const seen = [await picture()];
    for (const label of ["Moving averages", "Log scale"]) {
      await page.getByLabel(label).click();
      await expect.poll(async () => seen.includes(await picture())).toBe(false);
      seen.push(await picture());
    }
    expect(await legend.getByText("MA60").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("says so where a stock has no rows", async () => {
    const { page } = await enter(server, "#/chart");
    await page.getByRole("combobox").fill("999999.SZ");
    await page.keyboard.press("Enter");
    await page.getByText("There are no daily rows of 999999.SZ.").waitFor();
    expect(await page.locator("canvas").count()).toBe(0);
  });
});

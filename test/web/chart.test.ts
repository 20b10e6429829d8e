// The chart of a stock: chosen by keys, drawn, told in words, adjusted.
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
    const stock = page.getByRole("combobox", { name: "Stock: code or name" });
    await stock.pressSequentially("银行");
    await page.getByText("2 stocks found").waitFor({ state: "attached" });
    expect(await page.getByRole("option").allInnerTexts()).toEqual(["000001.SZ 平安银行", "600036.SH 招商银行"]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    expect(await page.getByRole("option", { selected: true }).innerText()).toContain("600036.SH");
    await page.keyboard.press("Enter");
    await page.getByText(`600036.SH, not adjusted: 261 ${ABOUT} 11.00, lowest 9.00, highest 12.00.`).waitFor();
    expect([await stock.inputValue(), new URL(page.url()).hash]).toEqual(["600036.SH", "#/chart/600036.SH"]);

    const canvas = page.locator(".canvas canvas").first();
    const { width, height } = (await canvas.boundingBox())!;
    expect([width > 500, height > 200]).toEqual([true, true]);
    const legend = page.getByRole("status").filter({ hasText: "Open" });
    expect(await legend.innerText()).toMatch(
      /^2024-12-31\s*Open 10.00\s*High 12.00\s*Low 9.00\s*Close 11.00\s*Volume 1,000/,
    );
    await page.locator(".canvas").focus();
    await page.keyboard.press("ArrowLeft");
    await page.getByText("2024-12-30", { exact: true }).waitFor();
    await page.keyboard.press("Home");
    await page.getByText("2024-01-01", { exact: true }).waitFor();
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

  test("says so where a stock has no rows", async () => {
    const { page } = await enter(server, "#/chart");
    await page.getByRole("combobox").fill("999999.SZ");
    await page.keyboard.press("Enter");
    await page.getByText("There are no daily rows of 999999.SZ.").waitFor();
    expect(await page.locator("canvas").count()).toBe(0);
  });
});

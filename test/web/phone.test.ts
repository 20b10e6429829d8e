// The page on a phone: nothing lies beyond the screen, and no day is broken in two.
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "../support/browser.js";
import { enter, expectAccessible, servePage } from "../support/page.js";
import type { TestServer } from "../support/server.js";
import { isLong } from "../support/size.js";

let server: TestServer;

beforeAll(async () => {
  server = await servePage();
});

/** Elements that reach over the edge; rows of a query and code to copy may be scrolled. */
const BEYOND = `[...document.querySelectorAll("body *")]
  .filter((element) => !element.closest(".rows, pre, .quiet, .skip, .canvas, thead"))
  .filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5)
  .map((element) => element.outerHTML.slice(0, 120))`;

/** Days whose text takes two lines. */
const BROKEN = `(() => {
  const found = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    if (walker.currentNode.parentElement.closest("pre, .rows tbody")) continue;
    for (const match of walker.currentNode.data.matchAll(/\\d{4}-\\d\\d-\\d\\d/g)) {
      const range = new Range();
      range.setStart(walker.currentNode, match.index);
      range.setEnd(walker.currentNode, match.index + match[0].length);
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) found.push(walker.currentNode.data);
    }
  }
  return found;
})()`;

async function expectFitting(page: Page): Promise<void> {
  await page.locator("main:not(:has([aria-busy]))").waitFor();
  expect(await page.evaluate(`[${BEYOND}, ${BROKEN}]`)).toEqual([[], []]);
}

describeInBrowser("on a phone", () => {
  test.runIf(isLong).each(["zh-CN", "en-GB"])("every view fits in %s", async (locale) => {
    const { page } = await enter(server, "", { locale, viewport: { width: 360, height: 740 }, hasTouch: true });
    for (const place of [
      "",
      "#/entity/daily",
      "#/entity/stock_company",
      "#/chart/600519.SH",
      "#/query?entity=income",
    ]) {
      // From nothing: until then the view before would be taken for this one.
      await page.goto("about:blank");
      await page.goto(`${server.url}/${place}`);
      await page.locator("h1").waitFor();
      for (const summary of await page.locator("summary").all()) await summary.click();
      await expectFitting(page);
    }
    await page.goto("about:blank");
    await page.goto(`${server.url}/#/query?entity=daily&start_date=2024`);
    await page.locator("button.primary").click();
    await page.locator(".field").getByRole("alert").waitFor();
    await expectFitting(page);
    await page.locator("[aria-invalid]").fill("20240101");
    await page.locator("button.primary").click();
    await page.locator(".results .rows").waitFor();
    await expectFitting(page);
    await expectAccessible(page);
  });

  test("a chart of one year shows every day of it", async () => {
    const { page } = await enter(server, "#/chart/600519.SH", { viewport: { width: 360, height: 740 } });
    await page.getByText("261 days from 2024-01-01 to 2024-12-31.").waitFor();
    expect(await page.getByText("261 days").isVisible()).toBe(true);
  });

  test("a row of the catalog is a card with labels", async () => {
    const { page } = await enter(server, "", { viewport: { width: 360, height: 740 } });
    const row = page.getByRole("row", { name: /^daily\s?Daily quotes/ });
    for (const cell of await row.getByRole("cell").all()) expect(await cell.isVisible()).toBe(true);
    const label = "getComputedStyle(document.querySelector('.cards td.number'), '::before').content";
    expect(await page.evaluate(label)).toContain("Rows");
  });
});

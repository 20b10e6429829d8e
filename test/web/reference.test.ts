// The reference of the API as a page: a request is tried with the token of the tab.
import { beforeAll, expect } from "vitest";
import { describeInBrowser } from "../support/browser.js";
import { enter, servePage } from "../support/page.js";
import type { TestServer } from "../support/server.js";
import { isLong, longTest } from "../support/size.js";

let server: TestServer;

beforeAll(async () => {
  if (isLong) server = await servePage();
});

describeInBrowser("the reference", () => {
  longTest("tries a request with the token that was given to the page, and breaks no rule of its policy", async () => {
    const { page, complaints } = await enter(server, "");
    await page.getByRole("link", { name: "API reference" }).click();
    await page.getByRole("heading", { name: /Tapehouse/ }).waitFor();
    await page.locator("#operations-tag-service").click();
    const operation = page.locator("#operations-service-get_meta");
    await operation.locator(".opblock-summary-control").click();
    await operation.getByRole("button", { name: "Try it out" }).click();
    const answered = page.waitForResponse((response) => response.url().endsWith("/api/v1/meta"));
    await operation.getByRole("button", { name: "Execute" }).click();
    expect((await answered).status()).toBe(200);
    await operation.locator(".live-responses-table").getByText("data_version").first().waitFor();
    expect(complaints).toEqual([]);
  });

  longTest("is in the language and the appearance that were chosen on the page", async () => {
    const { page, complaints } = await enter(server, "", { locale: "zh-CN", colorScheme: "light" });
    await page.getByRole("radio", { name: "深色" }).check();
    await page.getByRole("link", { name: "接口文档" }).click();
    await page.locator("#operations-tag-market").click();
    await page.getByText("日线行情：数据缺口").waitFor();
    expect(await page.locator("html").getAttribute("lang")).toBe("zh-CN");
    await page.locator("#operations-market-get_daily .opblock-summary-control").click();
    await page.getByRole("cell", { name: "收盘价" }).first().waitFor();
    const background = (): Promise<string> =>
      page.evaluate<string>("getComputedStyle(document.documentElement).backgroundColor");
    expect(await background()).toBe("rgb(28, 32, 34)");
    expect(complaints).toEqual([]);
  });

  longTest("follows the system's appearance unless one was chosen", async () => {
    const { page } = await enter(server, "", { colorScheme: "light" });
    await page.goto(`${server.url}/docs`);
    await page.getByRole("heading", { name: /Tapehouse/ }).waitFor();
    expect(await page.locator("html.dark-mode").count()).toBe(0);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.locator("html.dark-mode").waitFor();
  });
});

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
});

import { describe, expect, test } from "vitest";
import { searchOf } from "../../src/http/lookup.js";

const search = (query: string) => searchOf({ originalUrl: `/api/v1/entities/stock_list${query}` });

describe("the query of a request", () => {
  test("is read as percent-encoded UTF-8", () => {
    expect([...search("")]).toEqual([]);
    expect([...search("?name=%E5%B9%B3%E5%AE%89&order=desc")]).toEqual([
      ["name", "平安"],
      ["order", "desc"],
    ]);
    expect(search("?data_version=2024-01-02T00:00:00.000%2B08:00").get("data_version")).toContain("+08:00");
  });

  test.each([
    ["GBK", "?limit=5&name=%C6%BD%B0%B2"],
    ["UTF-8 cut short", "?name=%E5%B9"],
    ["a percent sign alone", "?name=100%"],
  ])("is refused if it is %s: it would match nothing", (_, query) => {
    expect(() => search(query)).toThrow("name: it is not percent-encoded UTF-8");
  });
});

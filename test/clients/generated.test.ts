// The generated parts of the clients match the catalog.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CLIENT_FILES } from "../../scripts/clients/files.js";

test.each(Object.entries(CLIENT_FILES))("%s is what `npm run clients` generates", (path, text) => {
  expect(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")).toBe(text());
});

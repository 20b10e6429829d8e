// The parts of the clients that the catalog decides are what it says now.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CLIENT_FILES } from "../../scripts/clients/files.js";

test.each(Object.entries(CLIENT_FILES))("%s is what `npm run clients` makes of the catalog", (path, text) => {
  expect(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")).toBe(text());
});

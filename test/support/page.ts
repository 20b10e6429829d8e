// The page of a server with a small market, as a person sees it.
import { expect } from "vitest";
import type { BrowserContextOptions, Page } from "playwright-core";
import { openPage, type OpenPage } from "./browser.js";
import { temporaryFolder } from "./folders.js";
import { publishRows } from "./lake.js";
import { serve, TOKEN, type TestServer } from "./server.js";

const WEEKDAYS =
  "(SELECT d::DATE AS day FROM range(DATE '2024-01-01', DATE '2025-01-01', INTERVAL 1 DAY) t(d) WHERE dayofweek(d) BETWEEN 1 AND 5)";

const bars = (codes: string, but: string): string =>
  `SELECT code AS ts_code, day AS trade_date, 10 AS open, 12 AS high, 9 AS low, 11 AS close, 10 AS pre_close,
     1 AS change, 10 AS pct_chg, 1000 AS vol, 1100 AS amount
   FROM ${WEEKDAYS}, (SELECT unnest([${codes}]) AS code) WHERE ${but}`;

/** What a browser must show as text. */
export const MARKUP = "<img src=x onerror=alert(1)>";

/**
 * A market of the year 2024, in which every weekday is open. `daily` has no row at all on 12 June, and none of 000001.SZ
 * on 5 March; factors double on 1 July. The second of two versions has a fourth code.
 */
export async function servePage(): Promise<TestServer> {
  const root = await temporaryFolder();
  await publishRows(root, {
    trade_cal: `SELECT 'SSE' AS exchange, d::DATE AS cal_date, (dayofweek(d) BETWEEN 1 AND 5)::INT AS is_open
      FROM range(DATE '2024-01-01', DATE '2025-01-01', INTERVAL 1 DAY) t(d)`,
    stock_list: `SELECT code AS ts_code, name, DATE '2010-01-04' AS list_date, DATE '2024-12-31' AS snapshot_date
      FROM (VALUES ('000001.SZ', '平安银行'), ('600036.SH', '招商银行'), ('600519.SH', '贵州茅台')) t(code, name)`,
    daily: bars(
      "'000001.SZ', '600036.SH', '600519.SH'",
      "day <> DATE '2024-06-12' AND NOT (code = '000001.SZ' AND day = DATE '2024-03-05')",
    ),
    index_basic: `SELECT '000300.SH' AS ts_code, '沪深300' AS name`,
    index_daily: `SELECT '000300.SH' AS ts_code, day AS trade_date, 3000 AS open, 3100 AS high, 2900 AS low, 3050 AS close,
      1.5 AS pct_chg, 2000 AS vol FROM ${WEEKDAYS} WHERE day < DATE '2024-02-01'`,
    stock_company: `SELECT '600519.SH' AS ts_code, '贵州茅台酒股份有限公司' AS com_name`,
    adj_factor: `SELECT code AS ts_code, day AS trade_date, CASE WHEN day < DATE '2024-07-01' THEN 1 ELSE 2 END AS adj_factor
      FROM ${WEEKDAYS}, (SELECT unnest(['000001.SZ', '600036.SH', '600519.SH']) AS code)`,
    anns_d: `SELECT day AS ann_date, '600519.SH' AS ts_code, '贵州茅台' AS name, '${MARKUP}' AS title, 'https://example.com' AS url
      FROM ${WEEKDAYS} WHERE day < DATE '2024-01-06'`,
  });
  await publishRows(root, { daily: bars("'300750.SZ'", "day = DATE '2024-01-02'") });
  return serve(root);
}

/** The page at `place`, e.g. `#/chart`, entered with the token that a person types. */
export async function enter(server: TestServer, place: string, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const opened = await openPage(server.url, options);
  const { page } = opened;
  await page.goto(`${server.url}/${place}`);
  await page.locator("input[type=password]").fill(TOKEN);
  await page.keyboard.press("Enter");
  await page.locator("nav a[aria-current=page]").waitFor();
  return opened;
}

/** Fails where a browser finds a grave fault for people who do not see or point. */
export async function expectAccessible(page: Page): Promise<void> {
  // Read by the tests' side: the page's own policy lets no foreign script in.
  const { default: axe } = await import("axe-core");
  const found = await page.evaluate<Found>(`${axe.source}; axe.run()`);
  const grave = found.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  expect(grave.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
}

interface Found {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

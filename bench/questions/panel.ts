// How fast is a panel of six columns of three entities, compared with all of `daily` alone?
import { lakeOf } from "../harness/lakes.js";
import { ourUrl, pull, rowsOf } from "../harness/pull.js";
import type { Question } from "../harness/question.js";
import { serveTapehouse, withServers } from "../harness/servers.js";
import { inTurn, median, round } from "../harness/turns.js";

const COLUMNS = [
  ...["daily:close", "daily:vol", "daily_basic:pe", "daily_basic:total_mv"],
  ...["income:total_revenue", "fina_indicator:roe"],
];

export const panel: readonly Question[] = ["json", "arrow"].map((format) => ({
  name: `panel ${format}`,
  async answer({ days, tries }) {
    const lake = await lakeOf(days);
    return withServers({ server: serveTapehouse(lake, { keeping: false }) }, async ({ server }) => {
      const rows = await rowsOf(server, "daily");
      const paths = {
        "daily alone": `entities/daily?format=${format}`,
        "panel of one entity": `panel?entities=daily:close,daily:vol&format=${format}`,
        "panel of two entities": `panel?entities=${COLUMNS.slice(0, 4).join()}&format=${format}`,
        panel: `panel?entities=${COLUMNS.join()}&format=${format}`,
      };
      const entries = Object.entries(paths).map(([name, path]) => [name, () => pull(ourUrl(server, path))] as const);
      const pulls = await inTurn(Object.fromEntries(entries), tries);
      const seconds = (name: string): number => median(pulls[name]!.map(({ total }) => total));
      return Object.keys(paths).map((name) => ({
        pull: name,
        rows,
        "rows/s": round(rows / seconds(name)),
        "first byte ms": round(median(pulls[name]!.map(({ firstByte }) => firstByte)) * 1000, 1),
        "peak MB, so far": round(server.peakMemory() / 1e6),
        "ratio to daily alone": round(seconds("daily alone") / seconds(name), 2),
      }));
    });
  },
}));

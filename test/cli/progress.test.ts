import { describe, expect, test } from "vitest";
import { createProgress } from "../../src/cli/progress.js";

/** The output to a terminal of this width, or to a file, with a clock that the test sets. */
function recorder(columns?: number) {
  const clock = { now: 0 };
  const written: string[] = [];
  const out = { isTTY: columns !== undefined, columns: columns ?? 0, write: (text: string) => written.push(text) > 0 };
  return { clock, written, progress: createProgress(out, () => clock.now) };
}

describe("progress", () => {
  test("on a terminal is a bar with rows per second and remaining time, redrawn and cleared", () => {
    const { clock, written, progress } = recorder(200);
    progress.show({ what: "writing daily", done: 0, total: 4_000_000, unit: "rows" });
    clock.now = 2_000;
    progress.show({ what: "writing daily", done: 1_000_000, total: 4_000_000, unit: "rows" });
    progress.done();
    progress.done();
    expect(written).toEqual([
      `\r\x1b[2K${"░".repeat(20)} 0 %  writing daily`,
      `\r\x1b[2K${"█".repeat(5)}${"░".repeat(15)} 25 %, 1,000,000 rows, 500,000 rows/s, 0:06 left  writing daily`,
      "\r\x1b[2K",
    ]);
  });

  test("is no wider than the terminal, so that it stays on one line", () => {
    const { written, progress } = recorder(30);
    progress.show({ what: "checking adj_factor/by_code/00000000.parquet", done: 0, total: 10, unit: "bytes" });
    expect(written[0]).toMatch(/^\r\x1b\[2K.{28}…$/u);
  });

  test("shows the name of a file as text that controls nothing", () => {
    const { written, progress } = recorder(80);
    progress.show({ what: "reading a\r\n\u001b[2J\u202e.csv", done: 0, total: 0, unit: "bytes" });
    expect(written).toEqual([String.raw`${"\r\x1b[2K"}reading a\r\n\u001b[2J\u202e.csv`]);
  });

  test("elsewhere is an occasional plain line", () => {
    const { clock, written, progress } = recorder();
    for (clock.now = 0; clock.now < 12_000; clock.now += 10) {
      progress.show({ what: "checking x", done: clock.now * 1e6, total: 20e9, unit: "bytes" });
    }
    progress.done();
    expect(written).toEqual([
      "0 %  checking x\n",
      "25 %, 5 GB, 1 GB/s, 0:15 left  checking x\n",
      "50 %, 10 GB, 1 GB/s, 0:10 left  checking x\n",
    ]);
  });

  test("restarts with the next piece of work, and shows no percentage of an unknown amount", () => {
    const { clock, written, progress } = recorder();
    progress.show({ what: "reading a.csv", done: 900, total: 1_000, unit: "bytes" });
    clock.now = 10_000;
    progress.show({ what: "writing", done: 0, total: 0, unit: "rows" });
    clock.now = 3_700_000;
    progress.show({ what: "writing", done: 1, total: 2, unit: "rows" });
    expect(written.slice(1)).toEqual(["writing\n", "50 %, 1 row, 0 rows/s, 1:01:30 left  writing\n"]);
  });
});

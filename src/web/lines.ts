// Rows as lines over days: the first column of days against each column of numbers.
import { dress, openFrame, type Colour, walk } from "./chart-frame.js";
import { dayText } from "./texts.js";
import { COLOURS_CHANGED } from "./settings.js";
import type { Envelope, Value } from "./types.js";
import { LineSeries } from "./vendor/lightweight-charts.js";

interface Line {
  readonly name: string;
  /** By day, `YYYY-MM-DD`. */
  readonly values: ReadonlyMap<string, number>;
}

export interface Lines {
  /** Ascending, `YYYY-MM-DD`. */
  readonly days: readonly string[];
  readonly lines: readonly Line[];
  /** Whether there are more lines than are drawn. */
  readonly isPart: boolean;
}

/** The colours of lines, in their order, and so the number of lines that are drawn. */
export const LINE_COLOURS = [
  ...(["average-5", "average-20", "average-60", "up", "down", "text"] as const),
] as const satisfies readonly Colour[];

const isDay = (value: Value): boolean =>
  typeof value === "string" && /^(?:[12]\d{3})(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/.test(value);

/**
 * Lines of a result; null if it has no column of days, no column of numbers, or several rows for a day that no column of
 * text distinguishes. With such a column, each of its texts has lines of its own.
 */
export function linesIn({ columns, rows }: Envelope): Lines | null {
  const filled = (index: number): readonly Value[] => rows.map((row) => row[index]!).filter((value) => value !== null);
  const texts = columns.flatMap(({ dtype }, index) => (dtype === "string" && filled(index).length > 0 ? [index] : []));
  const day = texts.find((index) => filled(index).every(isDay));
  const numbers = columns.flatMap(({ dtype }, index) => (dtype === "string" ? [] : [index]));
  if (day === undefined || numbers.length === 0) return null;
  const name = texts.find((index) => index !== day && !filled(index).every(isDay));
  const found = new Map<string, Map<string, number>>();
  const seen = new Set<string>();
  for (const row of rows) {
    if (row[day] === null) continue;
    const time = dayText(String(row[day]));
    const of = name === undefined ? "" : String(row[name] ?? "–");
    const key = `${time} ${of}`;
    if (seen.has(key)) return null;
    seen.add(key);
    for (const index of numbers) {
      const value = row[index];
      const title = [of, ...(numbers.length > 1 || of === "" ? [columns[index]!.name] : [])].filter(Boolean).join(" ");
      if (!found.has(title)) found.set(title, new Map());
      if (typeof value === "number") found.get(title)!.set(time, value);
    }
  }
  const lines = [...found].map(([title, values]) => ({ name: title, values }));
  const days = [...new Set([...seen].map((key) => key.slice(0, 10)))].sort();
  if (days.length < 2) return null;
  return { days, lines: lines.slice(0, LINE_COLOURS.length), isPart: lines.length > LINE_COLOURS.length };
}

export interface DrawnLines {
  /** Shows or hides the line with this index. */
  show(index: number, isShown: boolean): void;
  remove(): void;
}

/** Draws lines into `place`. `pointed` is called with the index of the day under the pointer. */
export function drawLines(
  place: HTMLElement,
  { days, lines }: Lines,
  locale: string,
  pointed: (index: number) => void,
): DrawnLines {
  const chart = openFrame(place, locale);
  const series = lines.map(({ values }) => {
    const line = chart.addSeries(LineSeries, { lineWidth: 2, lastValueVisible: false, priceLineVisible: false });
    line.setData(days.map((time) => ({ time, ...(values.has(time) ? { value: values.get(time)! } : {}) })));
    return line;
  });
  const paint = (): void => {
    const colours = dress(chart, place);
    for (const [index, line] of series.entries()) line.applyOptions({ color: colours[LINE_COLOURS[index]!] });
  };
  walk(place, chart, days, {
    show(index) {
      const at = lines.findIndex(({ values }) => values.has(days[index]!));
      if (at >= 0) chart.setCrosshairPosition(lines[at]!.values.get(days[index]!)!, days[index]!, series[at]!);
    },
    pointed,
  });
  document.addEventListener(COLOURS_CHANGED, paint);
  paint();
  chart.timeScale().fitContent();
  return {
    show: (index, isShown) => series[index]!.applyOptions({ visible: isShown }),
    remove() {
      document.removeEventListener(COLOURS_CHANGED, paint);
      chart.remove();
    },
  };
}

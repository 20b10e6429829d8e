// Which bars of a chart are on screen: the last years, or those between two days.
import type { App } from "./app.js";
import type { Bar } from "./bars.js";
import type { Candles } from "./candles.js";
import { absolve, accuse, choice, field, h } from "./dom.js";
import { dayText, type TextKey } from "./texts.js";

/** Years. */
const RANGES = { "1": "year1", "3": "year3", "1000": "everything" } as const satisfies Record<string, TextKey>;

interface SpanPicker {
  readonly elements: readonly HTMLElement[];
  /** Shows the chosen part of this chart, now and after each choice. */
  use(bars: readonly Bar[], candles: Candles): void;
}

export function spanPicker({ t }: App): SpanPicker {
  let years: keyof typeof RANGES = "1";
  let shown: { readonly bars: readonly Bar[]; readonly candles: Candles } | undefined;
  const day = (): HTMLInputElement =>
    h("input", { type: "text", autocomplete: "off", placeholder: "YYYYMMDD", size: "9", change: () => apply() });
  const [from, to] = [day(), day()];
  const fields = [field(t("start"), from), field(t("end"), to)] as const;
  const ranges = Object.entries(RANGES).map(([value, key]) => [value as keyof typeof RANGES, t(key)] as const);
  const chosen = choice(t("range"), ranges, years, (value) => {
    years = value;
    from.value = to.value = "";
    apply();
  });

  /** The entered day as `YYYY-MM-DD`; null if the field is empty or holds no date. */
  const dayIn = (input: HTMLInputElement, place: HTMLElement): string | null => {
    const digits = input.value.trim().replaceAll("-", "");
    if (/^\d{8}$/.test(digits)) return dayText(digits);
    if (digits !== "") complain(place, "noDay");
    return null;
  };
  const complain = (place: HTMLElement, key: TextKey): void =>
    accuse(place, h("p", { role: "alert", class: "trouble" }, t(key)));

  const apply = (): void => {
    fields.forEach(absolve);
    const [first, last] = [dayIn(from, fields[0]), dayIn(to, fields[1])];
    if (shown === undefined) return;
    const { bars, candles } = shown;
    const end = last ?? bars.at(-1)!.time;
    const begin = first ?? `${String(Number(end.slice(0, 4)) - Number(years)).padStart(4, "0")}${end.slice(4)}`;
    const inside = bars.flatMap(({ time }, index) => (time >= begin && time <= end ? [index] : []));
    if (inside.length > 0) candles.show(inside[0]!, inside.at(-1)!);
    else complain(fields[0], "noBars");
  };
  return {
    elements: [chosen, ...fields],
    use(bars, candles) {
      shown = { bars, candles };
      apply();
    },
  };
}

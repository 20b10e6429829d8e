// What this browser remembers of its user's taste: language and light. Nothing secret.
import type { Language } from "./texts.js";

export type Theme = "system" | "light" | "dark";

/** The colour of rising prices. */
export type Rise = "red" | "green";

/** Told on `document` when colours have changed. */
export const COLOURS_CHANGED = "tapehouse-colours";

export const settings = {
  language(): Language {
    const kept = localStorage.getItem("tapehouse-language") ?? navigator.language;
    return kept.startsWith("zh") ? "zh" : "en";
  },
  setLanguage: (language: Language): void => localStorage.setItem("tapehouse-language", language),
  theme(): Theme {
    const kept = localStorage.getItem("tapehouse-theme");
    return kept === "light" || kept === "dark" ? kept : "system";
  },
  /** As on the exchanges of those who read the language, until it is switched. */
  rise(language: Language): Rise {
    const kept = localStorage.getItem("tapehouse-rise");
    return kept === "red" || kept === "green" ? kept : language === "zh" ? "red" : "green";
  },
};

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

/** Whether dark mode is on: the user's choice, or the system setting. */
export const isDark = (): boolean => {
  const theme = settings.theme();
  return theme === "dark" || (theme === "system" && systemIsDark.matches);
};

export function applyTheme(theme: Theme): void {
  localStorage.setItem("tapehouse-theme", theme);
  document.documentElement.dataset["theme"] = theme;
  document.dispatchEvent(new Event(COLOURS_CHANGED));
}

/** Applies the colours of prices to `view`. */
export function applyRise(view: HTMLElement, rise: Rise): void {
  localStorage.setItem("tapehouse-rise", rise);
  view.dataset["rise"] = rise;
  document.dispatchEvent(new Event(COLOURS_CHANGED));
}

systemIsDark.addEventListener("change", () => document.dispatchEvent(new Event(COLOURS_CHANGED)));

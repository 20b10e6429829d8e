// What this browser remembers of its user's taste: language and light. Nothing secret.
import type { Language } from "./texts.js";

export type Theme = "system" | "light" | "dark";

/** Told on `document` when colours have changed. */
export const THEME_CHANGED = "tapehouse-theme";

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
};

export function applyTheme(theme: Theme): void {
  localStorage.setItem("tapehouse-theme", theme);
  document.documentElement.dataset["theme"] = theme;
  document.dispatchEvent(new Event(THEME_CHANGED));
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
  document.dispatchEvent(new Event(THEME_CHANGED)),
);

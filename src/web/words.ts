// Numbers and days as people read them, in the language of the page.

/** `20240105` as `2024-01-05`. */
export const dayText = (day: string): string => `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;

/** `2024-01-05` as `20240105`; what is written without dashes stays. */
export const dayValue = (text: string): string => text.replaceAll("-", "");

export const countText = (count: number): string => count.toLocaleString("en-US");

/** A million as `1M`: at most three digits. */
export const shortCount = (count: number): string =>
  count.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 3 });

export const priceText = (price: number): string =>
  price.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 3 });

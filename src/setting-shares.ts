// One worker's part of what a setting gives the whole server.
import { bytesOf } from "./setting-values.js";

/** One worker's part of what is for the whole server. */
export type Share<T> = (whole: T, workers: number) => T;

const part = (whole: number, workers: number, least: number): number => Math.max(least, Math.floor(whole / workers));

/** None only if the whole server has none. */
export const partOrAuto: Share<number | "auto"> = (whole, workers) =>
  whole === "auto" ? whole : part(whole, workers, Math.min(whole, 1));

/** At least one, so with little of it and many workers the sum may be more. */
export const partOf: Share<number> = (whole, workers) => part(whole, workers, 1);

export const partOrNothing: Share<number> = (whole, workers) => part(whole, workers, 0);

export const partOrNone: Share<number | null> = (whole, workers) => (whole === null ? null : part(whole, workers, 1));

export const partOfSize: Share<string> = (whole, workers) => `${part(bytesOf(whole) / 1e6, workers, 1)}MB`;

// Calendar days as `YYYYMMDD`.
import { putFour } from "./digits";

/** Days from 0000-03-01, where a cycle of 400 years starts, to 1970-01-01. */
const TO_MARCH_0: i32 = 719468;
/** 0001-01-01 and 9999-12-31. */
export const FIRST_DAY: i32 = -719162;
export const LAST_DAY: i32 = 2932896;

/**
 * Writes a day between FIRST_DAY and LAST_DAY as eight digits. Years start in March, so that the leap day is the last
 * one: the inverse of H. Hinnant's `days_from_civil`.
 */
export function putDate(days: i32, p: usize): void {
  const n = <u32>(days + TO_MARCH_0);
  const cycle = n / 146097;
  const dayOfCycle = n - cycle * 146097;
  const yearOfCycle = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36524 - dayOfCycle / 146096) / 365;
  const dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100);
  const march = (5 * dayOfYear + 2) / 153; // months since March
  const day = dayOfYear - (153 * march + 2) / 5 + 1;
  const month = march < 10 ? march + 3 : march - 9;
  putFour(cycle * 400 + yearOfCycle + u32(month < 3), p);
  putFour(month * 100 + day, p + 4);
}

// A day as text, as in every format.
import { formatDays } from "../dates.js";

const FIRST_DAY = -719_162;
const LAST_DAY = 2_932_896;

/** Days since 1970-01-01 → `YYYYMMDD`. Throws RangeError outside the years 1 to 9999. */
export function textOfDay(days: number): string {
  if (days < FIRST_DAY || days > LAST_DAY) throw new RangeError("date outside the years 1 to 9999");
  return formatDays(days);
}

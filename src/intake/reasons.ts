// Why a value of a file was refused, by the form of the value.
import { faultOfCode, ourCode } from "../catalog/codes.js";
import type { ColumnType } from "../catalog/types.js";

/** What a value that is no date may be, by its form. The first that fits. */
const NO_DATE: readonly (readonly [RegExp, string])[] = [
  [/^\d{11,}$/, "is not a date; milliseconds are accepted only in JSON, and only if they are midnight in UTC"],
  [/^1970-/, "is not a date, but a number that was read as a moment: write the date itself, such as 20240102"],
  [/^[2-6]\d{4}(\.\d+)?$/, "is a day number of Excel: give the column the format of a date, and save the file again"],
];

const NO_NUMBER: readonly (readonly [RegExp, string])[] = [
  [/^[+-]?\d{1,3}([,_]\d{3})+(\.\d*)?$/, "is a number with separators: remove them"],
  [/^[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+$/, "is a number with a decimal comma: write it with a decimal point"],
  [/^[+-]?\d*\.?\d+\s*%$/, "is a number with a percent sign: remove it"],
];

const found = (forms: readonly (readonly [RegExp, string])[], value: string, otherwise: string): string =>
  forms.find(([form]) => form.test(value))?.[1] ?? otherwise;

/** Why a code was refused. */
function reasonAgainstCode(value: string): string {
  if (/^\d{1,6}$/.test(value)) {
    const zeros = value.length < 6 ? "; its leading zeros are lost" : "";
    return (
      `is a code without its exchange, which is not guessed${zeros}: write 600000.SH, 000001.SZ, 920001.BJ, ` +
      `add a column exchange, or let --complete-codes of tapehouse import add the exchange to the numbers of stocks`
    );
  }
  if (!/^[0-9A-Z.]+$/i.test(value)) return "is not a code such as 600000.SH";
  const fault = faultOfCode({ stocks: true }, ourCode(value.toUpperCase()));
  if (fault === null) return "is not a code such as 600000.SH";
  return fault.why + (fault.near === undefined ? "" : `; it may mean ${fault.near}`);
}

const REASONS: Readonly<Record<ColumnType, (value: string) => string>> = {
  text: () => "cannot be read as text",
  date: (value) => found(NO_DATE, value, "is not a date of the calendar, such as 20240102 or 2024-01-02"),
  code: reasonAgainstCode,
  int64: () => "is not an integer",
  float64: (value) => found(NO_NUMBER, value, "is not a number"),
};

/** Why a value was refused, as the end of a sentence that begins with the value. */
export const reasonAgainst = (type: ColumnType, value: string): string => REASONS[type](value);

// File lists of any length, whose data files do not exist: a date file for each day, and a code copy.
import { formatDays } from "../../src/dates.js";
import { fileList, sha256, type DataFile, type FileList } from "../../src/lake/manifest.js";

/** The first day: 1 January 1000, so that there are three million days with four digits for their year. */
const FIRST_DAY = -354_285;

/** The date file of a day, counted from the first one. Another `content` gives another checksum. */
export function dayFile(entity: string, day: number, content = ""): DataFile {
  const date = formatDays(FIRST_DAY + day);
  const sum = sha256(`${date}${content}`);
  return {
    path: `${entity}/${date}-${date}-${sum.slice(0, 16)}.parquet`,
    sha256: sum,
    bytes: 40_000_000,
    rows: 1_000_000,
    first: date,
    last: date,
    firstCode: "000001.SZ",
    lastCode: "999999.SZ",
    mostOnADay: 1_000_000,
  };
}

/** The code copy of all days, in this many files. */
function codeFiles(entity: string, days: number, count: number): readonly DataFile[] {
  const codeOf = (n: number): string => `${String(n).padStart(6, "0")}.SZ`;
  const each = Math.floor(1_000_000 / Math.max(1, count));
  const [first, last] = [formatDays(FIRST_DAY), formatDays(FIRST_DAY + days - 1)];
  return Array.from({ length: count }, (_, i): DataFile => {
    const sum = sha256(`${i} of ${count}`);
    const path = `${entity}/by_code/${first}-${last}-${sum.slice(0, 16)}.parquet`;
    const [firstCode, lastCode] = [codeOf(i * each), codeOf((i + 1) * each - 1)];
    return { path, sha256: sum, bytes: 40_000_000, rows: 1_000_000, first, last, firstCode, lastCode };
  });
}

/** A list of so many days, all of them covered by a code copy of a tenth as many files. */
export function longList(entity: string, days: number): FileList {
  const byDate = Array.from({ length: days }, (_, day) => dayFile(entity, day));
  const byCode = codeFiles(entity, days, Math.ceil(days / 10));
  return fileList(
    entity,
    byDate,
    byCode,
    byDate.map(({ first, last }) => [first!, last!]),
  );
}

/** The same list with other content in one of its days, which its code copy then lacks. */
export function withChangedDay(list: FileList, day: number, content: string): FileList {
  const changed = dayFile(list.entity, day, content);
  const byDate = list.byDate.map((file) => (file.first === changed.first ? changed : file));
  const ranges = list.codeRanges.filter(([first]) => first !== changed.first);
  return fileList(list.entity, byDate, list.byCode, ranges);
}

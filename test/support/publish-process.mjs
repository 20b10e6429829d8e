// A process that publishes one row at a time: `DATA ENTITY CODE TIMES` writes a row of the code for TIMES days.
import { publishRows } from "./lake.ts";

const [data, entity, code, times] = process.argv.slice(2);
for (let day = 0; day < Number(times); day++) {
  await publishRows(data, { [entity]: `SELECT '${code}' AS ts_code, DATE '2024-01-02' + ${day} AS trade_date` });
}

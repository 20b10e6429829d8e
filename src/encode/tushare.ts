// The answer that clients of Tushare read: names in `fields`, rows in `items`, and whether more rows follow.
import { jsonRows } from "./json.js";
import type { Encoder, Head } from "./types.js";

export function tushareEncoder({ columns }: Pick<Head, "columns">): Encoder {
  const fields = JSON.stringify(columns.map(({ name }) => name));
  return {
    ...jsonRows(columns),
    begin: () => Buffer.from(`{"code":0,"msg":"","data":{"fields":${fields},"items":[`),
    end: ({ truncated }) => Buffer.from(`],"has_more":${truncated}}}`),
  };
}

// One request of rows as text for other tools. Text from the user stands in it only percent-encoded or as a JSON string.
import type { Parameters } from "./api.js";

/** A request of rows. `address` is that of the entity, absolute and without a query. */
export interface Asked {
  readonly entity: string;
  readonly address: string;
  readonly parameters: Parameters;
}

const urlOf = ({ address, parameters }: Asked, more: Parameters = {}): string => {
  const query = new URLSearchParams({ ...parameters, ...more }).toString().replaceAll("%2C", ",");
  return query === "" ? address : `${address}?${query}`;
};

export const HEADER = `-H "Authorization: Bearer $TOKEN"`;

/** A dict of Python, or an object of TypeScript. */
const dictOf = (parameters: Parameters): string => {
  const items = Object.entries(parameters).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  return items.length === 0 ? "{}" : `{\n        ${items.join(",\n        ")},\n    }`;
};

const pythonRequest = ({ address, parameters }: Asked, more: Parameters = {}): string => `answer = requests.get(
    ${JSON.stringify(address)},
    params=${dictOf({ ...parameters, ...more })},
    headers={"Authorization": f"Bearer {os.environ['TOKEN']}"},
)
answer.raise_for_status()`;

/** As the Python client asks by default. JSON has no dates: there the TypeScript client gives text too. */
const REAL_DATES: Parameters = { dates: "date" };

export const SNIPPETS = {
  URL: (asked) => urlOf(asked),
  curl: (asked) => `curl -sSf ${HEADER} "${urlOf(asked)}"`,
  pandas: (asked) => `import os
import pyarrow as pa
import requests

${pythonRequest(asked, { format: "arrow", ...REAL_DATES })}
frame = pa.ipc.open_stream(answer.content).read_pandas(date_as_object=False)
print(frame)`,
  polars: (asked) => `import io
import os
import polars as pl
import requests

${pythonRequest(asked, { format: "arrow", ...REAL_DATES })}
frame = pl.read_ipc_stream(io.BytesIO(answer.content))
print(frame)`,
  DuckDB: (
    asked,
  ) => `curl -sSf ${HEADER} "${urlOf(asked, { format: "parquet", ...REAL_DATES })}" -o ${asked.entity}.parquet
duckdb -c "SELECT * FROM '${asked.entity}.parquet'"`,
  TypeScript: (asked) => `const answer = await fetch(${JSON.stringify(urlOf(asked))}, {
  headers: { Authorization: \`Bearer \${process.env.TOKEN}\` },
});
if (!answer.ok) throw new Error(await answer.text());
const { columns, rows } = (await answer.json()) as { columns: { name: string }[]; rows: (string | number | null)[][] };
console.table(rows.map((row) => Object.fromEntries(columns.map(({ name }, i) => [name, row[i]]))));`,
} as const satisfies Record<string, (asked: Asked) => string>;

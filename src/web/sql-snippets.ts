// One statement as text for other tools; the statement and its values stand in the quotes of each of them.
import { HEADER } from "./snippets.js";
import type { Snippets } from "./snippet-panel.js";

/** A value of a parameter. */
export type SqlValue = string | number | null | readonly string[] | readonly number[];

/** A statement that is asked for. */
export interface AskedSql {
  readonly sql: string;
  readonly params: Readonly<Record<string, SqlValue>>;
}

/** The address of the server, wherever a proxy has put it. */
const root = (): string => new URL(".", document.baseURI).href.replace(/\/$/, "");

const hasValues = ({ params }: AskedSql): boolean => Object.keys(params).length > 0;

const shellText = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Several lines stay so where no escape is needed. */
const pythonText = (text: string): string =>
  /\\|"""|"$/.test(text) || !text.includes("\n") ? JSON.stringify(text) : `"""${text}"""`;

const scriptText = (text: string): string =>
  /[\\`$]/.test(text) || !text.includes("\n") ? JSON.stringify(text) : `\`${text}\``;

const pythonValue = (value: SqlValue): string => (value === null ? "None" : JSON.stringify(value));

function python(asked: AskedSql, form: "pandas" | "polars"): string {
  const items = Object.entries(asked.params).map(([name, value]) => `${JSON.stringify(name)}: ${pythonValue(value)}`);
  return `import os
from tapehouse import Client

client = Client(${JSON.stringify(root())}, os.environ["TOKEN"])
answer = client.sql(
    ${pythonText(asked.sql)},${hasValues(asked) ? `\n    {${items.join(", ")}},` : ""}
)
frame = answer.${form}()
print(frame)`;
}

/** A list as JSON; anything else as it is. */
const commandValue = (value: SqlValue): string => (typeof value === "object" ? JSON.stringify(value) : String(value));

export const SQL_SNIPPETS: Snippets<AskedSql> = {
  curl: (asked) => `curl -sSf ${HEADER} -H "Content-Type: application/json" \\
  ${shellText(`${root()}/api/v1/sql`)} -d ${shellText(JSON.stringify(hasValues(asked) ? asked : { sql: asked.sql }))}`,
  pandas: (asked) => python(asked, "pandas"),
  polars: (asked) => python(asked, "polars"),
  TypeScript: (asked) => `import { createClient } from "tapehouse/client";

const client = createClient({ url: ${JSON.stringify(root())}, token: process.env.TOKEN! });
const sql = ${scriptText(asked.sql)};
const rows = await client.sql(sql${hasValues(asked) ? `, { params: ${JSON.stringify(asked.params)} }` : ""}).all();
console.table(rows);`,
  CLI: (asked) =>
    [
      "tapehouse sql",
      ...Object.entries(asked.params).map(([name, value]) => `--param ${shellText(`${name}=${commandValue(value)}`)}`),
      shellText(asked.sql),
    ].join(" "),
};

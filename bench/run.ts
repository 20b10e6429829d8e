// npm run bench -- [WORD...] [options]: answers the questions whose names contain every word; without a word, all of
// them.
import { parseArgs } from "node:util";
import { put, type Question } from "./harness/question.js";
import { beside } from "./questions/beside.js";
import { bucket } from "./questions/bucket.js";
import { burst } from "./questions/burst.js";
import { clients } from "./questions/clients.js";
import { first } from "./questions/first.js";
import { frames } from "./questions/frames.js";
import { growth } from "./questions/growth.js";
import { importing } from "./questions/import.js";
import { memory } from "./questions/memory.js";
import { panel } from "./questions/panel.js";
import { published } from "./questions/published.js";
import { release } from "./questions/release.js";
import { requests } from "./questions/requests.js";
import { routing } from "./questions/routing.js";
import { small } from "./questions/small.js";
import { sql } from "./questions/sql.js";
import { wide } from "./questions/wide.js";
import { workers } from "./questions/workers.js";

const QUESTIONS: readonly Question[] = [
  ...wide,
  ...first,
  ...panel,
  small,
  ...requests,
  ...clients,
  ...beside,
  ...frames,
  ...memory,
  ...sql,
  workers,
  importing,
  published,
  burst,
  bucket,
  growth,
  ...routing,
  release,
];

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    days: { type: "string", default: "250" },
    "small-days": { type: "string", default: "1000" },
    growth: { type: "string", default: "250,1000" },
    "import-rows": { type: "string", default: "10" },
    requests: { type: "string", default: "2000" },
    release: { type: "string" },
    tries: { type: "string", default: "3" },
  },
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
const asked = QUESTIONS.filter(({ name }) => positionals.every((word) => name.split(" ").includes(word)));
if (asked.length === 0) {
  process.stderr.write(`no question has all these words:\n${QUESTIONS.map(({ name }) => `  ${name}\n`).join("")}`);
  process.exitCode = 2;
}
for (const question of asked.filter((one) => one !== release || values.release !== undefined)) {
  await put(question, {
    days: Number(values.days),
    smallDays: Number(values["small-days"]),
    growth: values.growth.split(",").map(Number),
    importRows: Number(values["import-rows"]),
    requests: Number(values.requests),
    release: values.release ?? null,
    tries: Number(values.tries),
  });
}

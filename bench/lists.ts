// npm run bench:lists -- [FILES...]: the cost of lists with these numbers of data files. The data files themselves do not exist.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { entityNamed } from "../src/catalog/index.js";
import { openLake } from "../src/lake/lake.js";
import { layoutOf } from "../src/lake/layout.js";
import { emptyList, EMPTY_VERSION } from "../src/lake/manifest.js";
import { planRead } from "../src/query/plan.js";
import { parseRequest } from "../src/query/request.js";
import { publish, withWriteSession } from "../src/store/session.js";
import { longList, withChangedDay } from "../test/support/file-lists.js";
import { median, round } from "./harness/turns.js";

const ENTITY = "daily";
const PLANS = {
  "one stock": "ts_code=300750.SZ",
  "one day": "trade_date=10020301",
  "a page": "limit=1000",
  "the latest": "limit=1000&order=desc",
  "a stock's latest": "limit=10&order=desc&ts_code=300750.SZ",
  "a year": "start_date=10010101&end_date=10011231",
} as const;

type Figures = Readonly<Record<string, number>>;

/** Steps that run in a process of their own, so that none finds the lists of another one in memory. */
const STEPS: Readonly<Record<string, (root: string, files: number) => Promise<Figures>>> = { make, open, plan, change };

async function make(root: string, files: number): Promise<Figures> {
  const layout = layoutOf(root);
  await mkdir(join(layout.lake, ENTITY), { recursive: true });
  const list = longList(ENTITY, files);
  const ms = await timed(() =>
    publish(layout, { version: EMPTY_VERSION, files: emptyList }, [list], { reason: "bench", now: new Date() }),
  );
  return { "first publish ms": ms, "state MB": (await bytesIn(layout.lists)) / 1e6 };
}

async function open(root: string): Promise<Figures> {
  collect();
  const before = process.memoryUsage();
  const ms = await timed(() => openLake(root));
  const lake = await openLake(root);
  const peak = process.resourceUsage().maxRSS / 1e3;
  collect();
  const { heapUsed } = process.memoryUsage();
  if (lake.current().files(ENTITY).byDate.length === 0) throw new Error("the list is empty");
  return { "open ms": ms, "heap MB": (heapUsed - before.heapUsed) / 1e6, "peak MB": peak };
}

async function plan(root: string): Promise<Figures> {
  const list = (await openLake(root)).current().files(ENTITY);
  const entity = entityNamed(ENTITY)!;
  const figures: [string, number][] = [];
  for (const [name, query] of Object.entries(PLANS)) {
    const request = parseRequest(entity, new URLSearchParams(query), { defaultLimit: null, maxLimit: null });
    const times: number[] = [];
    const began = performance.now();
    while (times.length < 30 && performance.now() - began < 5_000)
      times.push(await timed(async () => planRead(request, list, null)));
    figures.push([`plan ${name} ms`, median(times)]);
  }
  return Object.fromEntries(figures);
}

/** Publishes another content of one day, three times, and reads the version as a server does. */
async function change(root: string, files: number): Promise<Figures> {
  const lake = await openLake(root);
  const { lists } = lake.layout;
  const [times, bytes, follows]: readonly [number[], number[], number[]] = [[], [], []];
  for (const turn of [1, 2, 3]) {
    const before = await bytesIn(lists);
    times.push(
      await timed(() =>
        withWriteSession(root, { memory: "256MB" }, ({ base, publish: next }) =>
          next([withChangedDay(base.files(ENTITY), Math.floor(files / 3), `${turn}`)], "bench"),
        ),
      ),
    );
    bytes.push((await bytesIn(lists)) - before);
    follows.push(await timed(() => lake.refresh()));
  }
  return { "publish ms": median(times), "written kB": median(bytes) / 1e3, "follow ms": median(follows) };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(folder)) bytes += (await stat(join(folder, name))).size;
  return bytes;
}

const collect = (): void => (globalThis as { gc?: () => void }).gc?.();

async function measure(files: number): Promise<Figures> {
  const root = await mkdtemp(join(tmpdir(), "tapehouse-lists-"));
  try {
    let figures: Figures = { files };
    for (const step of Object.keys(STEPS)) {
      const node = ["--expose-gc", "--max-old-space-size=16000", "--import", "tsx", import.meta.filename];
      const { stdout } = await promisify(execFile)(process.execPath, [...node, step, root, String(files)]);
      figures = { ...figures, ...(JSON.parse(stdout) as Figures) };
    }
    return figures;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

const [step, root, ofStep] = process.argv.slice(2);
const run = STEPS[step ?? ""];
if (run !== undefined) {
  process.stdout.write(JSON.stringify(await run(root!, Number(ofStep))));
} else {
  const wanted = process.argv.slice(2).map(Number);
  const rows: Figures[] = [];
  for (const files of wanted.length > 0 ? wanted : [1_000, 100_000]) rows.push(await measure(files));
  const names = Object.keys(rows[0]!);
  console.table(
    Object.fromEntries(names.map((name) => [name, rows.map((row) => round(row[name]!, row[name]! < 100 ? 1 : 0))])),
  );
}

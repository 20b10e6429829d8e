// Random histories of drops and commands, with crashes, against a plain model: the rows of each version by identity.
import { utimes } from "node:fs/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { entityNamed } from "../../src/catalog/index.js";
import type { Entity } from "../../src/catalog/types.js";
import { withReader } from "../../src/cli/reading.js";
import { isoDate } from "../../src/dates.js";
import { readColumns } from "../../src/engine/calendars.js";
import { changesRead } from "../../src/engine/changes.js";
import { dropNamed, importsOf } from "../../src/lake/found-drops.js";
import { openLake, type Snapshot } from "../../src/lake/lake.js";
import { latestEntries, type LedgerEntry } from "../../src/lake/ledger.js";
import type { Version } from "../../src/lake/manifest.js";
import { verify } from "../../src/repair/verify.js";
import { buildCodeCopy, compact } from "../../src/store/compact.js";
import { deleteRows } from "../../src/store/delete.js";
import { importFiles } from "../../src/store/import.js";
import { revertDrops } from "../../src/store/revert-drop.js";
import { revert } from "../../src/store/revert.js";
import { withWriteSession } from "../../src/store/session.js";
import { vacuum } from "../../src/store/vacuum.js";
import { expectedChanges } from "../support/changes-model.js";
import { copyAtCall } from "../support/dying.js";
import { isMirror, newLake } from "../support/lakes.js";
import { drop, dropFile, ingester, ledgerOf, type TestIngester } from "../support/ingest.js";
import { size } from "../support/size.js";
import type { Row } from "../support/traffic-model.js";
import { csvFile, filesBelow, MEMORY, neededFiles, rowsOf } from "../support/upkeep.js";

const HISTORIES = size("HISTORIES", 40, 150);

/** One thread is enough for a few rows, and costs less. */
const LIMITS = { ...MEMORY, threads: 1 };

const DATES = ["20240102", "20240103", "20240104", "20240105"];
const CODES = ["000001.SZ", "000002.SZ", "600000.SH"];

interface Cell {
  readonly code: string;
  readonly date: string;
  readonly value: number;
}

/** How the rows of a file meet those of the lake: by identity, in one column, or as whole days. */
type How = "rows" | "patch" | "day";

interface Kind {
  readonly entity: string;
  readonly header: string;
  /** A patch has the first three columns. */
  readonly line: (cell: Cell) => readonly (string | number)[];
  readonly row: (cell: Cell) => Row;
  /** Of several rows with the same identity, the last one counts. */
  readonly isRow: boolean;
}

const KINDS: readonly Kind[] = [
  {
    entity: "stk_limit",
    header: "ts_code,trade_date,up_limit,down_limit",
    line: ({ code, date, value }) => [code, date, value, value],
    row: ({ code, date, value }) => [code, date, value, value],
    isRow: true,
  },
  {
    entity: "suspend_d",
    header: "ts_code,trade_date,suspend_timing,suspend_type",
    line: ({ code, date, value }) => [code, date, `09:3${value}-10:00`, "S"],
    row: ({ code, date, value }) => [code, date, `09:3${value}-10:00`, "S"],
    isRow: false,
  },
  {
    entity: "stk_auction",
    header: "ts_code,trade_date,ts_type,time,price,vol,amount,pre_close",
    line: ({ code, date, value }) => [code, date, "STK", `09:25:0${value}`, value, 100, "", ""],
    row: ({ code, date, value }) => [code, date, "STK", `09:25:0${value}`, value, 100, null, null],
    isRow: false,
  },
];

type Step = { readonly crash: number | null } & (
  | { readonly does: "drop"; readonly how: How; readonly cells: readonly Cell[] }
  | { readonly does: "drop again"; readonly which: number }
  | { readonly does: "import" | "fail"; readonly cells: readonly Cell[] }
  | { readonly does: "delete"; readonly code: string | null; readonly date: string }
  | { readonly does: "revert" | "take back"; readonly which: number }
  | { readonly does: "compact" | "copy by code" | "restart" }
  | { readonly does: "vacuum"; readonly keep: number }
);

const cells = fc.uniqueArray(
  fc.record({
    code: fc.constantFrom(...CODES),
    date: fc.constantFrom(...DATES),
    value: fc.integer({ min: 1, max: 4 }),
  }),
  { minLength: 1, maxLength: 5, selector: ({ code, date, value }) => `${code} ${date} ${value}` },
);
const which = fc.nat(9);
/** A command makes some tens of writing calls, and a drop somewhat more. */
const crash = fc.option(fc.integer({ min: 1, max: 60 }), { freq: 4 });
const does = <D extends string>(name: D): { does: fc.Arbitrary<D> } => ({ does: fc.constant(name) });

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 7,
      arbitrary: fc.record({ ...does("drop"), how: fc.constantFrom<How>("rows", "patch", "day"), cells, crash }),
    },
    { weight: 2, arbitrary: fc.record({ ...does("drop again"), which, crash }) },
    { weight: 1, arbitrary: fc.record({ ...does("import"), cells, crash }) },
    { weight: 1, arbitrary: fc.record({ ...does("fail"), cells, crash: fc.constant(null) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        ...does("delete"),
        code: fc.option(fc.constantFrom(...CODES)),
        date: fc.constantFrom(...DATES),
        crash,
      }),
    },
    { weight: 2, arbitrary: fc.record({ ...does("revert"), which, crash }) },
    { weight: 4, arbitrary: fc.record({ ...does("take back"), which, crash }) },
    { weight: 1, arbitrary: fc.record({ ...does("compact"), crash }) },
    { weight: 1, arbitrary: fc.record({ ...does("copy by code"), crash: fc.constant(null) }) },
    { weight: 1, arbitrary: fc.record({ ...does("restart"), crash: fc.constant(null) }) },
    { weight: 1, arbitrary: fc.record({ ...does("vacuum"), keep: fc.integer({ min: 1, max: 4 }), crash }) },
  ),
  { minLength: 3, maxLength: 8 },
);

// The model.

/** The rows of each identity. */
type State = ReadonlyMap<string, readonly Row[]>;

const identityOf = ({ code, date }: Pick<Cell, "code" | "date">): string => `${date} ${code}`;

function afterFile({ row, isRow, entity }: Kind, state: State, how: How, file: readonly Cell[]): State {
  const fresh = new Map<string, Row[]>();
  for (const cell of file) {
    const name = identityOf(cell);
    const kept = state.get(name)?.[0];
    const full = row(cell);
    const one = how === "patch" && entity === "stk_limit" ? [...full.slice(0, 3), kept?.[3] ?? null] : full;
    fresh.set(name, isRow ? [one] : [...(fresh.get(name) ?? []), one]);
  }
  const days = new Set(file.map(({ date }) => date));
  const stays = ([name]: readonly [string, unknown]): boolean => how !== "day" || !days.has(name.slice(0, 8));
  return new Map([...[...state].filter(stays), ...fresh]);
}

const rowsIn = (state: State): readonly Row[] => [...state.values()].flat();
const shown = (state: State): readonly string[] =>
  rowsIn(state)
    .map(([code, date, ...values]) => JSON.stringify([code, isoDate(String(date)), ...values]))
    .sort();
const isSame = (a: State, b: State, name: string): boolean =>
  JSON.stringify([...(a.get(name) ?? [])].sort()) === JSON.stringify([...(b.get(name) ?? [])].sort());

const EMPTY: State = new Map();

/** What a step should do: the rows after it, or the error that it ends with. */
type Outcome = State | RegExp;

class History {
  root = "";
  watcher!: TestIngester;
  readonly entity: Entity;
  state = EMPTY;
  /** The rows of each kept version, by its `data_version`. */
  versions = new Map<string, { readonly sequence: number; readonly state: State }>();
  readonly drops: { readonly path: string; readonly how: How; readonly cells: readonly Cell[] }[] = [];
  private touches = 1_700_000_000;

  constructor(readonly kind: Kind) {
    this.entity = entityNamed(kind.entity)!;
  }

  async restart(root = this.root): Promise<void> {
    this.root = root;
    this.watcher = await ingester(root);
    await this.watcher.settle();
  }

  async run(step: Step): Promise<void> {
    const planned = await this.plan(step);
    if (planned === null) return;
    const before = await this.current();
    const { outcome, act } = planned;
    const isDrop = step.does === "drop" || step.does === "drop again";
    // Who drops a file does not die with the process that imports it.
    if (isDrop) await act();
    const work = async (): Promise<void> => {
      if (outcome instanceof RegExp) await expect(act()).rejects.toThrow(outcome);
      else if (!isDrop) await act();
      await this.watcher.settle();
    };
    const copy = step.crash === null || isMirror ? (await work(), null) : await copyAtCall(step.crash, this.root, work);
    if (copy !== null) {
      this.root = copy;
      const died = await this.current();
      const isDone = isDrop || died.version.sequence > before.version.sequence;
      await this.restart(copy);
      if (isDone && !(outcome instanceof RegExp)) this.state = outcome;
    } else if (!(outcome instanceof RegExp)) this.state = outcome;
    await this.compare(step);
  }

  async current(): Promise<Snapshot> {
    return (await openLake(this.root)).current();
  }

  /** The outcome of a step, and what is done; null if it has no meaning here. */
  private async plan(step: Step): Promise<{ readonly outcome: Outcome; act(): Promise<unknown> } | null> {
    const { kind, entity, state } = this;
    const kept = [...this.versions];
    const text = (file: readonly Cell[], how: How): readonly string[] => {
      const columns = how === "patch" && kind.entity === "stk_limit" ? 3 : Infinity;
      const header = kind.header.split(",").slice(0, columns).join(",");
      return [header, ...file.map((cell) => kind.line(cell).slice(0, columns).join(","))];
    };
    const bring = async (path: string, content: readonly string[] | null): Promise<void> => {
      if (content) await drop(this.root, path, `${content.join("\n")}\n`);
      await utimes(await dropFile(this.root, path), ++this.touches, this.touches);
    };
    switch (step.does) {
      case "drop": {
        const path = `${kind.entity}/${step.how === "day" ? "@replace-day/" : ""}${this.drops.length}.csv`;
        this.drops.push({ path, how: step.how, cells: step.cells });
        return {
          outcome: afterFile(kind, state, step.how, step.cells),
          act: () => bring(path, text(step.cells, step.how)),
        };
      }
      case "drop again": {
        const again = this.drops[step.which % Math.max(1, this.drops.length)];
        if (!again) return null;
        return { outcome: afterFile(kind, state, again.how, again.cells), act: () => bring(again.path, null) };
      }
      case "import":
      case "fail": {
        const [header, ...lines] = text(step.cells, "rows");
        const bad = step.does === "fail" ? [kind.line({ ...step.cells[0]!, date: "20240230" }).join(",")] : [];
        const file = await csvFile(header!, [...lines, ...bad]);
        return {
          outcome: step.does === "fail" ? /20240230/ : afterFile(kind, state, "rows", step.cells),
          act: () => importFiles(this.root, entity, [file], { map: {}, set: {}, ...LIMITS }),
        };
      }
      case "delete": {
        const { code, date } = step;
        const where = code === null ? [] : [["ts_code", code] as const];
        const goes = (name: string): boolean => name.startsWith(date) && (code === null || name.endsWith(code));
        return {
          outcome: new Map([...state].filter(([name]) => !goes(name))),
          act: () => deleteRows(this.root, entity, { where, from: date, to: date, all: false }, LIMITS),
        };
      }
      case "revert": {
        const target = kept.slice(0, -1)[step.which % Math.max(1, kept.length - 1)];
        if (!target) return null;
        return { outcome: target[1].state, act: () => revert(this.root, target[0], LIMITS) };
      }
      case "take back":
        return this.planTakingBack(step.which);
      case "compact":
        return { outcome: state, act: () => compact(this.root, LIMITS) };
      case "copy by code":
        return {
          outcome: state,
          act: () =>
            withWriteSession(this.root, LIMITS, async ({ writer, layout, base, publish }) => {
              await publish([await buildCodeCopy({ writer, layout }, entity, base.files(entity.name))], "copy by code");
            }),
        };
      case "vacuum":
        return {
          outcome: state,
          act: async () => {
            await vacuum(this.root, { olderThan: 0, keep: step.keep, now: new Date(Date.now() + 60_000) });
          },
        };
      case "restart":
        return { outcome: state, act: () => this.restart() };
    }
  }

  private async planTakingBack(number: number): ReturnType<History["plan"]> {
    const { state, versions, entity } = this;
    const ledger = await ledgerOf(this.root);
    const taken = latestEntries(ledger).filter(({ outcome }) => outcome === "taken" || outcome === "same");
    const chosen = taken[number % Math.max(1, taken.length)];
    if (!chosen) return null;
    const act = (): Promise<unknown> => revertDrops(this.root, [chosen.path], LIMITS);
    const kept = await (await openLake(this.root)).versions();
    const imports = importsOf(ledger, dropNamed(ledger, chosen.path, undefined)).toReversed();
    // The last import of the drop that changed rows is the one that recorded it in its version.
    const versionOf = (entry: LedgerEntry): Version | undefined =>
      kept.find(({ data_version }) => data_version === entry.data_version);
    const isRecorded = (entry: LedgerEntry): boolean =>
      versionOf(entry)?.entries?.some(({ sha256, path }) => sha256 === entry.sha256 && path === entry.path) === true;
    const last = imports.find((entry) => versionOf(entry) === undefined || isRecorded(entry));
    if (!last) return { outcome: state, act };
    const version = versionOf(last);
    if (!version) return { outcome: /is no longer kept/, act };
    const after = versions.get(version.data_version)!.state;
    const previous = [...versions.values()].find(({ sequence }) => sequence === version.sequence - 1);
    if (!previous && version.sequence > 1) return { outcome: /is no longer kept/, act };
    const before = previous?.state ?? EMPTY;
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter((name) => !isSame(before, after, name));
    if (changed.some((name) => !isSame(after, state, name))) {
      return { outcome: new RegExp(`cannot be taken back alone, since rows .* ${entity.name}`), act };
    }
    const back = [...before].filter(([name]) => changed.includes(name));
    return { outcome: new Map([...[...state].filter(([name]) => !changed.includes(name)), ...back]), act };
  }

  /** Compares what is served with the model, and learns which versions are kept. */
  private async compare(step: Step): Promise<void> {
    const lake = await openLake(this.root);
    const { version } = lake.current();
    const when = `after ${JSON.stringify(step)}`;
    expect([...(await rowsOf(this.root, lake.current(), this.entity.name))].sort(), when).toEqual(shown(this.state));
    const known = this.versions.get(version.data_version);
    if (known) expect(shown(known.state), when).toEqual(shown(this.state));
    const kept = (await lake.versions()).map((one) => one.data_version);
    const all = new Map([...this.versions, [version.data_version, { sequence: version.sequence, state: this.state }]]);
    this.versions = new Map([...all].filter(([name]) => kept.includes(name)));
    expect([...this.versions.keys()], when).toEqual(kept);
  }

  /** Every kept version has its rows, and any two of them differ as those of the model do. */
  async compareVersions(): Promise<void> {
    const lake = await openLake(this.root);
    const snapshots: (readonly [Snapshot, State])[] = [];
    for (const [name, { state }] of this.versions) {
      const found = await lake.at(name);
      if (typeof found === "string") throw new Error(`${name} is kept and yet ${found}`);
      expect([...(await rowsOf(this.root, found, this.entity.name))].sort()).toEqual(shown(state));
      snapshots.push([found, state]);
    }
    await withReader(lake, async (reader, signal) => {
      for (const [i, [older, was]] of snapshots.entries()) {
        for (const [newer, is] of snapshots.slice(i + 1)) {
          const columns = await readColumns(reader, changesRead(this.entity, [older, newer]), signal);
          const found = (columns[0] ?? []).map((_, row) => columns.map((column) => column[row]!));
          const expected = expectedChanges(this.entity, rowsIn(was), rowsIn(is));
          expect(found.map((row) => JSON.stringify(row)).sort()).toEqual(
            expected.map((row) => JSON.stringify(row)).sort(),
          );
        }
      }
    });
  }
}

async function replay(kind: Kind, history: readonly Step[]): Promise<void> {
  const one = new History(kind);
  await one.restart(await newLake());
  for (const step of history) await one.run(step);
  if (one.versions.size === 0) return;
  await one.compareVersions();
  expect((await verify(one.root, { deep: true, ...LIMITS })).faults).toEqual([]);
  await vacuum(one.root, { olderThan: 0, keep: one.versions.size, now: new Date() });
  const ofVersions = (paths: readonly string[]): readonly string[] =>
    paths.filter((path) => /^(lake|state.(lists|versions))\b/.test(path));
  expect(ofVersions(await filesBelow(one.root))).toEqual(ofVersions(await neededFiles(one.root)));
}

/** Histories that ended with other rows, or with another error, than the model. */
const FOUND: readonly Step[][] = [
  // The drop was imported twice and changed rows only the first time.
  [
    { does: "import", cells: [{ code: CODES[0]!, date: DATES[1]!, value: 1 }], crash: null },
    { does: "drop", how: "rows", cells: [{ code: CODES[0]!, date: DATES[0]!, value: 1 }], crash: null },
    { does: "delete", code: null, date: DATES[1]!, crash: null },
    { does: "drop again", which: 0, crash: null },
    { does: "delete", code: null, date: DATES[0]!, crash: null },
    { does: "take back", which: 0, crash: null },
  ],
  // A file that replaces its day is dropped again after another file added a row to the day.
  [
    { does: "drop", how: "day", cells: [{ code: CODES[0]!, date: DATES[0]!, value: 1 }], crash: null },
    { does: "drop", how: "rows", cells: [{ code: CODES[1]!, date: DATES[0]!, value: 1 }], crash: null },
    { does: "drop again", which: 0, crash: null },
  ],
];

test("any history of drops and commands ends with the rows of a plain model, in every kept version", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...KINDS), steps, (kind, history) => replay(kind, history)),
    { numRuns: HISTORIES, examples: FOUND.map((history) => [KINDS[0]!, history]) },
  );
  expect(HISTORIES).toBeGreaterThan(0);
}, 3_600_000);

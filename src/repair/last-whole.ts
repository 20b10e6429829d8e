// Goes back to the last whole version, if newer ones name files that are missing or damaged.
import { OperatorError } from "../errors.js";
import { versionFile, type Layout } from "../lake/layout.js";
import { findDrops, type FoundDrop } from "../lake/found-drops.js";
import { inspectLedger, LEDGER_BEGIN } from "../lake/ledger.js";
import { emptyList, type Version } from "../lake/manifest.js";
import { seal } from "../lake/records.js";
import { ENTITIES } from "../catalog/index.js";
import { join } from "node:path";
import { writeDurably } from "../durable.js";
import { tryLock } from "../lock.js";
import type { WriteSession } from "../store/session.js";
import { removeVersions } from "../store/vacuum.js";
import type { Fault, Inventory } from "./inventory.js";

/** The reason of a version that lacks rows of the one before it, since they could not be restored. */
export const GIVEN_UP = "repair, rows given up";

/** What going back has undone. */
export interface WentBack {
  /** The version that is served again. */
  readonly to: string;
  /** The versions after it, oldest first, and what had created them. */
  readonly undone: readonly Pick<Version, "data_version" | "reason">[];
  /** Drops of these versions that are in the inbox and will be imported again. */
  readonly again: readonly string[];
  /** Drops of these versions that are no longer in the inbox. */
  readonly gone: readonly string[];
}

/**
 * The newest version before the damaged ones; null if the served version is neither damaged nor one that gave up rows, or
 * if no version before it is whole.
 */
export function lastWhole({ versions, current }: Inventory, faults: readonly Fault[]): Version | null {
  const broken = brokenAmong(versions, faults);
  const newest = broken.at(-1);
  if (!current || !newest || (current !== newest && current.reason !== GIVEN_UP)) return null;
  return versions.findLast((version) => version.sequence < newest.sequence && !broken.includes(version)) ?? null;
}

const brokenAmong = (versions: readonly Version[], faults: readonly Fault[]): readonly Version[] => {
  const names = new Set(faults.filter(isDamage).flatMap((fault) => fault.versions));
  return versions.filter((version) => names.has(version.data_version));
};

const isDamage = ({ kind, entity }: Fault): boolean => kind === "damaged" && entity !== null;

/**
 * Publishes the file lists of the last whole version as a new version, and removes the later entries of the ledger, so that
 * their drops are imported again. Later versions that cannot be read are removed.
 */
export async function goBack(
  { layout, publish }: WriteSession,
  inventory: Inventory,
  faults: readonly Fault[],
): Promise<WentBack & { readonly version: Version | null }> {
  const { versions, current, lists } = inventory;
  const whole = lastWhole(inventory, faults);
  if (!current || !whole) throw new OperatorError(whyNot(inventory, faults));
  const undone = versions.filter(({ sequence }) => sequence > whole.sequence);
  const drops = await dropsSince(layout, whole);
  let version: Version | null = null;
  const isDone = await tryLock(layout.ingestLock, async () => {
    // The ledger comes first: after a crash in between, the drops are imported again into the version that is served.
    await forgetSince(layout, whole);
    const back = ENTITIES.map(({ name }) => {
      // Its own findings, not those of the version that is served.
      return { findings: [], ...(lists.get(whole.lists[name] ?? "") ?? emptyList(name)) };
    });
    // Reverts among the later versions no longer count.
    const [after, until] = [whole.data_version, current.data_version];
    const withdrawals = ENTITIES.map(({ name: entity }) => ({ entity, after, until }));
    version = await publish(back, `back to ${whole.data_version}`, { withdrawals });
  });
  if (!isDone)
    throw new OperatorError(`a process watches the inbox: stop it (tapehouse serve or ingest), then go back again`);
  const broken = brokenAmong(undone, faults);
  await removeVersions(
    layout,
    broken,
    broken.map(({ sequence }) => join(layout.versions, versionFile(sequence))),
  );
  return {
    to: whole.data_version,
    undone: undone.map(({ data_version, reason }) => ({ data_version, reason })),
    again: drops.flatMap(({ path }) => (path === null ? [] : [`inbox/${path}`])),
    gone: drops.flatMap(({ entry, path }) => (path === null ? [`inbox/${entry.path}`] : [])),
    version,
  };
}

function whyNot({ versions, current }: Inventory, faults: readonly Fault[]): string {
  if (!current) return "the served version cannot be read: run tapehouse verify --repair first; nothing was changed";
  if (!brokenAmong(versions, faults).includes(current)) return "the served version is whole: nothing was changed";
  return "no version before the served one is whole: nothing was changed; see: tapehouse verify --repair --give-up";
}

async function dropsSince(layout: Layout, { data_version: since }: Version): Promise<readonly FoundDrop[]> {
  const found: FoundDrop[] = [];
  for (const { name } of ENTITIES)
    found.push(
      ...(await findDrops(layout, name, ({ command, data_version }) => !command && (data_version ?? "") > since)),
    );
  return found;
}

async function forgetSince({ ledger }: Layout, { data_version: since }: Version): Promise<void> {
  const { entries, damaged, isEmpty } = await inspectLedger(ledger);
  if (damaged.length > 0) throw new OperatorError("the ledger is damaged: run tapehouse verify --repair first");
  if (isEmpty) return;
  const left = entries.filter(({ data_version }) => data_version === null || data_version <= since);
  if (left.length < entries.length)
    await writeDurably(ledger, [LEDGER_BEGIN, ...left.map((entry) => `${seal(entry)}\n`)]);
}

// The ledger of a lake in a bucket. An object cannot be appended to, so parts that never change hold the older entries, and
// a head, which is replaced, names them and holds the latest entries. The mirror has all of it in one file.
import { appendFile, stat } from "node:fs/promises";
import { writeDurably } from "../durable.js";
import { OperatorError } from "../errors.js";
import { piecesIn, readOrNone } from "../files.js";
import type { Layout } from "../lake/layout.js";
import { sha256 } from "../lake/manifest.js";
import type { Mirror } from "../lake/mirror/mirror.js";
import type { ObjectStore } from "../objects/object-store.js";
import { LostRaceError, untilWon } from "./contention.js";

interface Head {
  /** The parts, each with its SHA-256, which is its name. */
  readonly parts: readonly { readonly sha256: string }[];
  readonly tail: string;
}

const EMPTY: Head = { parts: [], tail: "" };

interface Tagged {
  readonly tag: string;
  readonly head: Head;
}

/** What the file of the mirror was when it last had the same entries as the bucket. */
interface Synced extends Tagged {
  readonly ino: number;
  readonly size: number;
}

/** A longer tail becomes a part. In characters. */
const LONGEST_TAIL = 128 << 10;
const LONGEST_PART = 8 << 20;

const HEAD = "state/ledger.json";
const partKey = (sha: string): string => `state/ledger/${sha}.ndjson`;

/** Sends what was not sent yet, and reads what others have appended. The caller holds the lock of the ledger. */
export async function syncLedger(mirror: Mirror, layout: Layout): Promise<void> {
  const { objects } = mirror;
  await sendLedger(mirror, layout);
  const synced = await readSynced(layout);
  const found = await readHead(objects, synced?.tag);
  if (found === null || found === undefined) return;
  const added = synced ? await textSince(objects, synced.head, found.head) : null;
  if (added === null) await writeDurably(layout.ledger, await textOf(objects, found.head));
  else await appendFile(layout.ledger, added);
  await remember(layout, found);
}

/** Sends what the file of the mirror has and the bucket lacks. The caller holds the lock of the ledger. */
export async function sendLedger({ objects }: Mirror, layout: Layout): Promise<void> {
  const now = await stat(layout.ledger).catch(() => undefined);
  const synced = await readSynced(layout);
  if (!now || (synced?.ino === now.ino && synced.size === now.size)) return;
  // Whoever writes the file anew, shortens it, so the bucket gets all of it.
  const isAppended = synced?.ino === now.ino && now.size > synced.size;
  const ours = await textFrom(layout.ledger, isAppended ? synced.size : 0);
  let before: Tagged | undefined = synced;
  let theirs = "";
  await untilWon("the ledger of the bucket", async () => {
    const base = isAppended ? before!.head : EMPTY;
    const head = await withText(objects, base, isAppended ? ours : ours + theirs);
    const bytes = Buffer.from(JSON.stringify(head));
    const tag = before ? await objects.replaceIf(HEAD, bytes, before.tag) : await objects.create(HEAD, bytes);
    if (tag !== undefined) {
      await appendFile(layout.ledger, theirs);
      return remember(layout, { head, tag });
    }
    const found = await readHead(objects);
    if (!found) throw new OperatorError(`${objects.address} no longer has its ledger (${HEAD})`);
    const added = await textSince(objects, before?.head ?? EMPTY, found.head);
    if (added === null) throw new OperatorError("another process has rewritten the ledger of the bucket; try again");
    theirs += added;
    before = found;
    throw new LostRaceError();
  });
}

/** The head with more text. Full parts are sent. */
async function withText(objects: ObjectStore, { parts, tail }: Head, text: string): Promise<Head> {
  const all = Buffer.from(tail + text);
  if (all.length <= LONGEST_TAIL) return { parts, tail: tail + text };
  const added: Head["parts"][number][] = [];
  for (let at = 0; at < all.length; at += LONGEST_PART) {
    const bytes = all.subarray(at, at + LONGEST_PART);
    const sha = sha256(bytes);
    await objects.put(partKey(sha), bytes);
    added.push({ sha256: sha });
  }
  return { parts: [...parts, ...added], tail: "" };
}

/** What `after` has beyond `before`; null if it does not begin with it. */
async function textSince(objects: ObjectStore, before: Head, after: Head): Promise<string | null> {
  const known = before.parts.length;
  const isContinued = before.parts.every(({ sha256: sha }, i) => after.parts[i]?.sha256 === sha);
  if (!isContinued) return null;
  const text = await textOf(objects, { parts: after.parts.slice(known), tail: after.tail });
  return text.startsWith(before.tail) ? text.slice(before.tail.length) : null;
}

async function textOf(objects: ObjectStore, { parts, tail }: Head): Promise<string> {
  const texts: Buffer[] = [];
  for (const { sha256: sha } of parts) {
    const found = await objects.get(partKey(sha));
    if (!found || sha256(found.bytes) !== sha)
      throw new OperatorError(`${partKey(sha)} in ${objects.address} is damaged`);
    texts.push(found.bytes);
  }
  return Buffer.concat(texts).toString("utf8") + tail;
}

/** Undefined if there is no head, null if it still has the tag `unless`. */
async function readHead(objects: ObjectStore, unless?: string): Promise<Tagged | undefined | null> {
  const found = await objects.get(HEAD, unless === undefined ? {} : { unless });
  return found ? { head: JSON.parse(found.bytes.toString("utf8")) as Head, tag: found.tag } : found;
}

async function readSynced(layout: Layout): Promise<Synced | undefined> {
  const text = await readOrNone(layout.ledgerSynced);
  return text === undefined ? undefined : (JSON.parse(text) as Synced);
}

async function remember(layout: Layout, { head, tag }: Tagged): Promise<void> {
  const { ino, size } = await stat(layout.ledger);
  const synced: Synced = { tag, head, ino, size };
  await writeDurably(layout.ledgerSynced, JSON.stringify(synced));
}

async function textFrom(path: string, from: number): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of piecesIn(path, from)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString("utf8");
}

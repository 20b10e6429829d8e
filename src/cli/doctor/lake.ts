// Checks the lake, leftovers of crashes, drops and tokens.
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { chinaTime } from "../../dates.js";
import { reasonOf } from "../../errors.js";
import { UNFINISHED } from "../../lake/kept-versions.js";
import { latestEntries, readLedger } from "../../lake/ledger.js";
import type { Layout } from "../../lake/layout.js";
import { openLake } from "../../lake/lake.js";
import { readDrops } from "../../lake/status.js";
import { readTokens } from "../../lake/tokens.js";
import { exists } from "../../durable.js";
import { QUIET, watchInbox } from "../../inbox/watch.js";
import { takeInventory } from "../../repair/inventory.js";
import { lookAtLock } from "../../lock.js";
import { findStateFaults } from "../../repair/state-files.js";
import { plural, size } from "../../words.js";
import { ok, shell, warning, wrong, type Finding } from "./finding.js";

/** Maximum number of names that are listed. */
const SHOWN = 3;

/** `given` names the data directory, or the bucket that it mirrors, in commands. */
export async function checkLake(
  layout: Layout,
  given: string,
  staticToken: boolean,
  now: Date,
): Promise<readonly Finding[]> {
  const checks = [
    checkFiles(layout, given),
    checkClock(layout, now),
    checkLeftovers(layout, given),
    checkLocks(layout),
    checkDrops(layout, given),
    checkWaiting(layout, given),
    checkTokens(layout, given, staticToken, now),
  ];
  return (await Promise.all(checks)).flat();
}

const some = (names: readonly string[]): string =>
  names.slice(0, SHOWN).join(", ") + (names.length > SHOWN ? ` and ${names.length - SHOWN} more` : "");

/** Checks the manifest, and the existence and size of each file; `verify` checks checksums. */
async function checkFiles(layout: Layout, given: string): Promise<readonly Finding[]> {
  const way = shell("tapehouse", "verify", "--repair", "--data", given);
  const { versions, files, faults } = await takeInventory(layout);
  const damaged: string[] = [];
  let bytes = 0;
  for (const { file } of files.values()) {
    const found = await stat(join(layout.lake, file.path)).catch(() => undefined);
    if (found?.size !== file.bytes)
      damaged.push(`lake/${file.path} ${found ? `has ${found.size} bytes` : "is missing"}`);
    bytes += file.bytes;
  }
  const manifest =
    faults.length === 0
      ? ok("manifest", plural(versions.length, "version"))
      : wrong("manifest", {
          found: some(faults.map(({ path, problem }) => `${path}: ${problem}`)),
          expected: "a readable pointer, versions and file lists",
          way: faults.some(({ problem }) => problem === UNFINISHED)
            ? shell("tapehouse", "restore", "BACKUP", "--data", given)
            : way,
        });
  const data =
    damaged.length === 0
      ? ok("data files", `${plural(files.size, "file")}, ${size(bytes)}, all of the right size`)
      : wrong("data files", { found: some(damaged), expected: "unchanged files", way });
  const others = await findStateFaults(layout);
  const state =
    others.length === 0
      ? ok("state files", "ledger, gaps and removed versions are readable")
      : wrong("state files", {
          found: some(others.map(({ path, problem }) => `${path}: ${problem}`)),
          expected: "an unchanged ledger, gaps and list of removed versions",
          way,
        });
  return [manifest, data, state];
}

/** Milliseconds that a version may be ahead of the clock: versions published in quick succession are. */
const AHEAD = 60_000;

async function checkClock(layout: Layout, now: Date): Promise<readonly Finding[]> {
  const newest = (await openLake(layout.root).catch(() => null))?.current().version.data_version;
  if (newest === undefined || Date.parse(newest) - now.getTime() < AHEAD) return [ok("clock", now.toISOString())];
  return [
    warning("clock", {
      found: `the clock is at ${chinaTime(now)}, but the newest version is ${newest}: one of them is wrong`,
      expected: "a correct clock; versions published with a wrong one keep their order, and nothing is lost",
      way: "timedatectl status",
    }),
  ];
}

async function checkLeftovers(layout: Layout, given: string): Promise<readonly Finding[]> {
  const isFree = async (lock: string): Promise<boolean> => (await lookAtLock(lock))?.isDead !== false;
  const left: string[] = [];
  if ((await exists(layout.pending)) && (await isFree(layout.writeLock))) left.push(layout.pending);
  if ((await isHoused(layout.scratch)) && (await isFree(layout.writeLock))) left.push(layout.scratch);
  if ((await isHoused(layout.staging)) && (await isFree(layout.stagingLock))) left.push(layout.staging);
  if ((await exists(layout.taking)) && (await isFree(layout.ingestLock))) left.push(layout.taking);
  if (left.length === 0) return [ok("leftovers", "none")];
  return [
    warning("leftovers", {
      found: `a crash left ${left.join(", ")}`,
      expected: "none; the next command that writes removes them",
      way: shell("tapehouse", "vacuum", "--data", given),
    }),
  ];
}

const isHoused = async (folder: string): Promise<boolean> => (await readdir(folder).catch(() => [])).length > 0;

async function checkLocks(layout: Layout): Promise<readonly Finding[]> {
  const { writeLock, stagingLock, ingestLock, tokensLock, gapsLock } = layout;
  const findings: Finding[] = [];
  for (const path of [writeLock, stagingLock, ingestLock, tokensLock, gapsLock]) {
    const lock = await lookAtLock(path);
    if (lock?.isDead) {
      findings.push(
        warning("lock", {
          found: `${basename(path)} is held by process ${lock.pid ?? "unknown"}, which has ended`,
          expected: "no lock, or a running holder; the next command that needs the lock takes it over",
          way: shell("rm", path),
        }),
      );
    } else if (lock) findings.push(ok("lock", `${basename(path)} is held by process ${lock.pid ?? "unknown"}`));
  }
  return findings.length > 0 ? findings : [ok("lock", "none held")];
}

async function checkDrops(layout: Layout, given: string): Promise<readonly Finding[]> {
  const lake = await openLake(layout.root).catch(() => null);
  const nothing = { refused: [] };
  const { refused } = lake ? await readDrops(lake).catch(() => nothing) : nothing;
  if (refused.length === 0) return [ok("drops", "no drop in the inbox was refused")];
  return [
    warning("drops", {
      found: `${plural(refused.length, "drop")} refused: ${some(refused.map(({ path, reason }) => `inbox/${path}: ${reason}`))}`,
      expected: "drops that can be imported: fix them and drop them again",
      way: shell("tapehouse", "status", "--data", given),
    }),
  ];
}

async function checkWaiting(layout: Layout, given: string): Promise<readonly Finding[]> {
  const entries = await readLedger(layout.ledger).catch(() => []);
  const known = new Map(latestEntries(entries).map((entry) => [entry.path, entry]));
  const waiting = stillFiles(layout.inbox).filter(({ path, size: bytes, mtime }) => {
    const entry = known.get(path);
    return entry?.size !== bytes || entry.mtime !== mtime;
  });
  const isWatched = (await lookAtLock(layout.ingestLock))?.isDead === false;
  if (waiting.length === 0) return [ok("inbox", `no files waiting; ${isWatched ? "watched" : "not watched"}`)];
  const found = `${plural(waiting.length, "file")} waiting: ${some(waiting.map(({ path }) => path))}`;
  if (isWatched) return [ok("inbox", found)];
  return [
    warning("inbox", {
      found: `${found}; the inbox is not watched`,
      expected: "a server or `tapehouse ingest` that imports them",
      way: shell("tapehouse", "ingest", "--data", given),
    }),
  ];
}

/** The importable files of the inbox, with a clock that makes none of them too new. */
function stillFiles(folder: string): ReturnType<ReturnType<typeof watchInbox>["scan"]> {
  let now = 0;
  const inbox = watchInbox(
    folder,
    () => now,
    () => 0,
  );
  inbox.scan();
  now = QUIET;
  return inbox.scan();
}

async function checkTokens(
  layout: Layout,
  given: string,
  staticToken: boolean,
  now: Date,
): Promise<readonly Finding[]> {
  const way = shell("tapehouse", "token", "create", "first", "--data", given);
  try {
    const { tokens, faults } = await readTokens(layout.tokens);
    if (faults.length > 0) {
      const list = shell("tapehouse", "token", "list", "--data", given);
      return [warning("tokens", { found: some(faults), expected: "records written by `token create`", way: list })];
    }
    const expired = tokens.filter(({ expires }) => expires !== null && Date.parse(expires) <= now.getTime());
    const valid = tokens.length - expired.length + (staticToken ? 1 : 0);
    const told = `${plural(valid, "valid token")}${expired.length > 0 ? `, ${expired.length} expired` : ""}`;
    if (valid > 0) return [ok("tokens", told)];
    return [warning("tokens", { found: `${told}: no client can read`, expected: "at least one valid token", way })];
  } catch (error) {
    return [
      wrong("tokens", {
        found: reasonOf(error),
        expected: "a readable token file",
        way: `${shell("mv", layout.tokens, `${layout.tokens}.damaged`)} && ${way}`,
      }),
    ];
  }
}

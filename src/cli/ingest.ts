// tapehouse ingest: imports files that are dropped into the inbox. `serve` runs it in a process of its own.
import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { type CopierOptions, keepCopies } from "../copier/copier.js";
import { readConfig, type ServerConfig } from "../config.js";
import type { SettingName } from "../settings.js";
import { OperatorError, reasonOf } from "../errors.js";
import { openCopiesFolder } from "../lake/copies-folder.js";
import { layoutOf } from "../lake/layout.js";
import { makeInbox } from "../inbox/data-directory.js";
import { ingest } from "../inbox/ingest.js";
import { tryLock } from "../lock.js";
import { untilAvailable } from "../inbox/data-directory.js";
import { endWhenAlone, hasRole, reportAlive, seenLake } from "../processes/messages.js";
import { addSettings } from "./options.js";
import { note } from "./out.js";

/** How often to check whether another process still watches this inbox, in milliseconds. */
const RETRY_EVERY = 500;

/** The nice value of this process: requests have priority. */
const NICE = 5;

export function ingestCommand(): Command {
  const command = new Command("ingest").description(
    "Watch the inbox: import drops, compact, remove old versions. serve runs this by default.",
  );
  return addSettings(command, "ingest")
    .addHelpText("after", "\nExample:\n  $ tapehouse ingest --data ./parquet")
    .action(async (options: Partial<Record<SettingName, string>>) => {
      const stopping = new AbortController();
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
      // The supervisor decides what a SIGHUP to the whole group means.
      process.on("SIGHUP", () => hasRole("ingester") || stopping.abort());
      if (hasRole("ingester")) {
        endWhenAlone();
        reportAlive();
      }
      await watch(readConfig(options, process.env), stopping.signal);
      process.channel?.unref();
    });
}

async function watch(config: ServerConfig, signal: AbortSignal): Promise<void> {
  const layout = layoutOf(config.data);
  const after = hasRole("ingester") ? seenLake() : null;
  const options = {
    memory: config.ingestMemory,
    maxDrop: config.maxDrop,
    strict: config.strict,
    limits: { rows: config.maxFileRows, unpacked: config.maxUnpacked, spill: config.ingestSpill },
    policy: { grace: config.deadline + PAGING, newest: config.keepVersions, retention: config.retention },
    now: () => new Date(),
    clock: () => performance.now(),
    log: note,
    signal,
    ...(after ? { after } : {}),
  };
  await untilAvailable(config.data, options);
  if (signal.aborted) return;
  try {
    await makeInbox(layout);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    note(`not watching the inbox: ${error.message}`);
    return;
  }
  setPriority(NICE);
  let told = false;
  while (!signal.aborted) {
    const ran = await tryLock(layout.ingestLock, async () => {
      await Promise.all([ingest(config.data, options), copy(config, options)]);
    });
    if (ran) return;
    if (!told) note("another process watches this inbox; waiting for it to end");
    told = true;
    await sleep(RETRY_EVERY, undefined, { signal }).catch(() => undefined);
  }
}

/** Keeps the serving copies. The inbox is watched without them too. */
async function copy(config: ServerConfig, options: Omit<CopierOptions, "folder" | "size">): Promise<void> {
  const folder = await openCopiesFolder(config).catch((error: unknown) => {
    note(`no serving copies are made: ${reasonOf(error)}`);
    return null;
  });
  if (folder !== null) await keepCopies(config.data, { ...options, folder, size: config.copies });
}

/** How long a client may page through a version, in addition to the deadline of a query, in milliseconds. */
const PAGING = 300_000;

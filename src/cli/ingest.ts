// tapehouse ingest: imports files that are dropped into the inbox. `serve` runs it in a process of its own.
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import type { GivenSettings, ServerConfig } from "../config.js";
import { OperatorError } from "../errors.js";
import type { Mark } from "../lake/continuity.js";
import { layoutOf } from "../lake/layout.js";
import { mirrorOf } from "../lake/mirror/mirror.js";
import { makeInbox } from "../inbox/data-directory.js";
import { ingest } from "../inbox/ingest.js";
import { tryLock } from "../lock.js";
import { untilAvailable } from "../inbox/data-directory.js";
import { copy, giveWay, runBeside } from "./beside.js";
import { addSettings } from "./options.js";
import { note } from "./out.js";

/** How often to check whether another process still watches this inbox, in milliseconds. */
const RETRY_EVERY = 500;

export function ingestCommand(): Command {
  const command = new Command("ingest").description(
    "Watch the inbox: import drops, compact, remove old versions. serve runs this by default.",
  );
  return addSettings(command, "ingest")
    .addHelpText("after", "\nExample:\n  $ tapehouse ingest --data ./parquet")
    .action((options: GivenSettings) =>
      runBeside("ingest", options, ({ config, signal, seen }) => {
        giveWay();
        return watch(config, { signal, ...seen });
      }),
    );
}

async function watch(
  config: ServerConfig,
  until: { readonly signal: AbortSignal; readonly after?: Mark },
): Promise<void> {
  const layout = layoutOf(config.data);
  const { signal } = until;
  const options = {
    memory: config.ingestMemory,
    maxDrop: config.maxDrop,
    strict: config.strict,
    limits: { rows: config.maxFileRows, unpacked: config.maxUnpacked, spill: config.ingestSpill },
    policy: { grace: config.deadline + PAGING, newest: config.keepVersions, retention: config.retention },
    now: () => new Date(),
    clock: () => performance.now(),
    log: note,
    ...until,
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
  let told = false;
  while (!signal.aborted) {
    const ran = await tryLock(layout.ingestLock, async () => {
      // Whoever follows a bucket keeps the copies of its mirror.
      const isMirror = (await mirrorOf(layout)) !== null;
      await Promise.all([ingest(config.data, options), isMirror ? null : copy(config, options)]);
    });
    if (ran) return;
    if (!told) note("another process watches this inbox; waiting for it to end");
    told = true;
    await sleep(RETRY_EVERY, undefined, { signal }).catch(() => undefined);
  }
}

/** How long a client may page through a version, in addition to the deadline of a query, in milliseconds. */
const PAGING = 300_000;

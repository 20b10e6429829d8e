// What ingest and follow share: they run beside a server, in processes that serve starts, or by themselves.
import { readConfig, type GivenSettings, type ServerConfig } from "../config.js";
import { type CopierOptions, keepCopies } from "../copier/copier.js";
import { reasonOf } from "../errors.js";
import type { Mark } from "../lake/continuity.js";
import { openCopiesFolder } from "../lake/copies-folder.js";
import { lowerPriority } from "../machine.js";
import { endWhenAlone, hasRole, reportAlive, seenLake } from "../processes/messages.js";
import { note } from "./out.js";

/** Requests have priority over this process from now on. */
export const giveWay = (): void => lowerPriority(5);

export interface Beside {
  readonly config: ServerConfig;
  /** Fires when the command should end. */
  readonly signal: AbortSignal;
  /** The lake that the server has served, which the data directory must continue. */
  readonly seen: { readonly after?: Mark };
}

/** Runs `work` until it ends. `works` is whether nothing outside prevents it, which the supervisor asks every second. */
export async function runBeside(
  command: "ingest" | "follow",
  options: GivenSettings,
  work: (beside: Beside) => Promise<unknown>,
  works?: () => boolean,
): Promise<void> {
  const isSupervised = hasRole(command);
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
  // The supervisor decides what a SIGHUP to the whole group means.
  process.on("SIGHUP", () => isSupervised || stopping.abort());
  if (isSupervised) {
    endWhenAlone();
    reportAlive(works);
  }
  const after = isSupervised ? seenLake() : null;
  const config = readConfig(options, process.env);
  await work({ config, signal: stopping.signal, seen: after ? { after } : {} });
  process.channel?.unref();
}

/** Keeps the serving copies. The inbox is watched, and a bucket followed, without them too. */
export async function copy(config: ServerConfig, options: Omit<CopierOptions, "folder" | "size">): Promise<void> {
  const folder = await openCopiesFolder(config).catch((error: unknown) => {
    note(`no serving copies are made: ${reasonOf(error)}`);
    return null;
  });
  if (folder !== null) await keepCopies(config.data, { ...options, folder, size: config.copies });
}

// The drops that take long to import or to find, as reported by the process that imports them.
import { readOrNone } from "../files.js";
import { count } from "../words.js";

/** Files of one entity that are read together. Paths are relative to the inbox. */
export interface IntakeLot {
  readonly entity: string;
  /** The first file. */
  readonly path: string;
  readonly files: number;
  /** `small`, `slow`, `large`, or `alone` if nothing else may run at the same time. */
  readonly size: string;
}

/** A folder that is scanned rarely, since it holds so much. */
export interface CrowdedFolder {
  /** Relative to the inbox; empty for all folders that belong to no entity. */
  readonly path: string;
  /** How many files and folders it holds. */
  readonly names: number;
  /** How long it may take until a change in it is noticed. */
  readonly seconds: number;
  /** It holds more than are watched. */
  readonly isFull: boolean;
}

export interface Intake {
  /** `since`: ISO 8601; `queued`: the number of later files of the same entity. */
  readonly reading: readonly (IntakeLot & { readonly since: string; readonly queued: number })[];
  /** `behind`: the first files of the lots that hold the slots. */
  readonly waiting: readonly (IntakeLot & { readonly behind: readonly string[] })[];
  readonly crowded: readonly CrowdedFolder[];
}

export function describeCrowded({ path, names, seconds, isFull }: CrowdedFolder): string {
  const held = `inbox/${path} holds ${count(names)} files and folders`;
  if (isFull) return `${held}, and more that are ignored until some of them are removed`;
  return `${held}: changes in it are noticed after up to ${count(seconds)} s; remove files that were imported`;
}

const IDLE: Intake = { reading: [], waiting: [], crowded: [] };

/** Reads the report. A missing or malformed file counts as an empty report. */
export async function readIntake(path: string): Promise<Intake> {
  try {
    return { ...IDLE, ...(JSON.parse((await readOrNone(path)) ?? "{}") as Partial<Intake>) };
  } catch {
    return IDLE;
  }
}

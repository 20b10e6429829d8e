// What is being taken from the inbox right now, as far as it takes long: told by the process that does it.
import { readOrNone } from "../files.js";

/** Files of one entity that are read together. Paths are relative to the inbox. */
export interface IntakeLot {
  readonly entity: string;
  /** The first file. */
  readonly path: string;
  readonly files: number;
  /** What they count as: `small`, `slow`, `large`, or `alone` where nothing else may run beside them. */
  readonly size: string;
}

export interface Intake {
  /** `since`: ISO 8601; `queued`: files of the same entity that come after them. */
  readonly reading: readonly (IntakeLot & { readonly since: string; readonly queued: number })[];
  /** `behind`: the first files of the lots that have the places. */
  readonly waiting: readonly (IntakeLot & { readonly behind: readonly string[] })[];
}

const IDLE: Intake = { reading: [], waiting: [] };

/** What a file says that is replaced whole. One that is not there, or not whole, tells nothing. */
export async function readIntake(path: string): Promise<Intake> {
  try {
    return { ...IDLE, ...(JSON.parse((await readOrNone(path)) ?? "{}") as Partial<Intake>) };
  } catch {
    return IDLE;
  }
}

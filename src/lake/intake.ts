// The drops that take long to import, as reported by the process that imports them.
import { readOrNone } from "../files.js";

/** Files of one entity that are read together. Paths are relative to the inbox. */
export interface IntakeLot {
  readonly entity: string;
  /** The first file. */
  readonly path: string;
  readonly files: number;
  /** `small`, `slow`, `large`, or `alone` if nothing else may run at the same time. */
  readonly size: string;
}

export interface Intake {
  /** `since`: ISO 8601; `queued`: the number of later files of the same entity. */
  readonly reading: readonly (IntakeLot & { readonly since: string; readonly queued: number })[];
  /** `behind`: the first files of the lots that hold the slots. */
  readonly waiting: readonly (IntakeLot & { readonly behind: readonly string[] })[];
}

const IDLE: Intake = { reading: [], waiting: [] };

/** Reads the report. A missing or malformed file counts as an empty report. */
export async function readIntake(path: string): Promise<Intake> {
  try {
    return { ...IDLE, ...(JSON.parse((await readOrNone(path)) ?? "{}") as Partial<Intake>) };
  } catch {
    return IDLE;
  }
}

// Whether the lake has Delta tables, and whether they could be brought up to the served version.
import { readOrNone } from "../files.js";
import type { Layout } from "./layout.js";

export interface DeltaState {
  /** How often tables could not be written. */
  readonly failures: number;
  /** The last failure, until the tables are brought up again; null if they were. */
  readonly last: { readonly time: string; readonly reason: string } | null;
}

export const NO_FAILURES: DeltaState = { failures: 0, last: null };

/** Null if the lake has no Delta tables. A malformed file says only that it has. */
export async function readDeltaState({ delta }: Layout): Promise<DeltaState | null> {
  const text = await readOrNone(delta);
  if (text === undefined) return null;
  try {
    return { ...NO_FAILURES, ...(JSON.parse(text) as Partial<DeltaState>) };
  } catch {
    return NO_FAILURES;
  }
}

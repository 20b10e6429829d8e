// The files that a statement reads: checked, and held until its last byte.
import type { Integrity } from "../lake/integrity.js";
import type { Snapshot } from "../lake/lake.js";
import type { Files } from "./messages.js";

export interface HeldFiles {
  readonly files: Files;
  /** Passes pieces on, and ends only after a check that the files did not change while they were read. */
  thenCheck(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
  leave(): void;
}

/** Rejects with DamagedFileError if one of the files of these entities is damaged. */
export async function holdFiles(
  integrity: Integrity,
  snapshot: Snapshot,
  entities: readonly string[],
): Promise<HeldFiles> {
  // Statements read files by date alone.
  const lists = entities.map((name) => ({ ...snapshot.files(name), byCode: [] }));
  const all = lists.flatMap(({ byDate }) => byDate);
  const { pathOf, checkAgain, leave } = await integrity.hold(all);
  return {
    files: {
      lists: Object.fromEntries(lists.map((list) => [list.entity, list])),
      paths: Object.fromEntries(all.map((file) => [file.path, pathOf(file)])),
    },
    async *thenCheck(pieces) {
      yield* pieces;
      await checkAgain();
    },
    leave,
  };
}

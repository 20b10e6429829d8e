// Files whose writers may have paused: they get time to be finished.
import type { DropState } from "../lake/drop-file.js";
import type { CheckedDrop } from "./judge.js";
import type { PendingDrop } from "./lots.js";

/**
 * Before a file is refused for the first time, it is read again after this time. A CSV file whose last line has no line break is
 * not read before it has been unchanged for this time. In milliseconds.
 */
export const SECOND_TRY = 3_000;

export const contentKey = ({ path, size, mtime }: DropState): string => `${path} ${size} ${mtime}`;

interface Unfinished {
  /** Whether the file has already been given time to be completed. */
  hadTime(file: DropState): boolean;
  /** The file gets its time now. */
  giveTime(file: DropState): void;
  forget(file: DropState): void;
  mayBeCutShort(drop: CheckedDrop): boolean;
  /** The first of these files may be cut short: all wait with it, so that they keep their order. */
  hold(left: readonly PendingDrop[]): void;
  /** Whether the files of an entity wait. */
  isHeld(entity: string): boolean;
}

/** `clock` gives monotonic milliseconds, and `now` the time to which times of files are compared. */
export function createUnfinished(clock: () => number, now: () => Date): Unfinished {
  const given = new Set<string>();
  /** Until when entities wait. */
  const holds = new Map<string, number>();
  const ageOf = ({ mtime }: DropState): number => Math.max(0, now().getTime() - mtime);
  const hadTime = (file: DropState): boolean => given.has(contentKey(file));
  return {
    hadTime,
    giveTime: (file) => void given.add(contentKey(file)),
    forget: (file) => void given.delete(contentKey(file)),
    mayBeCutShort: ({ file, hasOpenEnd }) => hasOpenEnd && !hadTime(file) && ageOf(file) < SECOND_TRY,
    hold(left) {
      const [{ file: first, entity }] = left as readonly [PendingDrop];
      for (const { file } of left) given.add(contentKey(file));
      holds.set(entity.name, clock() + SECOND_TRY - ageOf(first));
    },
    isHeld: (entity) => (holds.get(entity) ?? -Infinity) > clock(),
  };
}

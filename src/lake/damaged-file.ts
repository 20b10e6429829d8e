// The error of a data file that must not be read.

/** A data file that is missing, cut short or changed. It is never read. */
export class DamagedFileError extends Error {
  constructor(
    /** Relative to the lake folder. */
    readonly path: string,
    readonly reason: string,
    readonly isMissing = false,
    /** Its folder is missing too: probably a disk that is not mounted. */
    readonly isOutOfReach = false,
  ) {
    super(`${path}: ${reason}`);
    this.name = "DamagedFileError";
  }
}

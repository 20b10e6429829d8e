// What is noted of a request while it is answered, for its line in the log and for the metrics.
import type { Response } from "express";
import type { ProblemCode } from "../errors.js";
import type { StoredToken } from "../lake/token-records.js";

export interface Notes {
  /** Made here, also in the header `X-Request-Id`. */
  id?: string;
  token?: StoredToken;
  /** Of the catalog, never as the client wrote it. */
  entity?: string;
  /** Rows that were encoded. */
  rows?: number;
  /** The problem that it met. */
  problem?: ProblemCode;
}

export const notesOf = (res: Response): Notes => res.locals as Notes;

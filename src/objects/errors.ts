// Errors of stores that are the fault of neither the caller nor the object.
import { OperatorError } from "../errors.js";

/** A store does not answer for now: a retry may succeed. Whether a write was carried out is not known. */
export class UnreachableError extends OperatorError {
  constructor(message: string) {
    super(message);
    this.name = "UnreachableError";
  }
}

import { OperatorError } from "../errors.js";
export class UnreachableError extends OperatorError {}

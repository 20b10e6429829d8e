// Errors of a cluster in plain words: without stack traces, query plans, and paths of files.
import type { ServiceError } from "@grpc/grpc-js";
import { clip, printable } from "../words.js";

/**
 * `unavailable`: the cluster cannot be reached, or the connection or a worker was lost. `deadline`: it took too long.
 * `failed`: the statement failed over these rows, e.g. by a division by zero. `broken`: the cluster failed for another reason.
 * `incomplete`: the result is not whole.
 */
export type ClusterFailure = "unavailable" | "deadline" | "failed" | "broken" | "incomplete";

export class ClusterError extends Error {
  constructor(
    readonly failure: ClusterFailure,
    message: string,
    /** Spark's name for the kind of error, e.g. `DIVIDE_BY_ZERO`, if the cluster gave one. */
    readonly errorClass: string | null = null,
  ) {
    super(message);
    this.name = "ClusterError";
  }
}

/** Two codes of gRPC. The library itself is loaded only if there is a cluster; decisions about statements need no cluster. */
const DEADLINE_EXCEEDED: number = 4;
const UNAVAILABLE: number = 14;

const LONGEST = 300;
const CLASS = /\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\]\s*/;
/** The name of a file with its folders, as a path or as a URL. */
const PATH = /(?:\b[a-z][a-z0-9+.-]*:\/{1,3}|(?<![\w)])\/)[^\s'",;)]*/gi;
/** A place in the SQL that was sent, which users did not write. */
const PLACE = /;? *line \d+,? pos \d+;?| *SQLSTATE: \w+/g;
/** Advice for whoever may change settings of Spark. */
const ADVICE = / (?:Use `|If necessary,? set ).*/;
/** What the library of gRPC says around the reason. */
const AROUND = /^No connection established\. Last error: (?:Error: )?|\.? *Resolution note:.*$/g;

/** What a cluster says of lost workers and connections, with a status that other failures have, too. */
const LOST =
  /worker\b.*\b(lost|fail|unknown|stop|not found)|heartbeat|executor.*lost|transport error|h2 protocol error|connection (reset|refused|closed)|broken pipe|tcp connect error/i;

/** What values of rows cause, as Spark and Sail say it. */
const OWN_FAULT =
  /(division|divide|remainder)[ _]by[ _]zero|overflow|out[ _]of[ _]range|too large|too[ _]many[ _]rows|more than one row|raised?[ _]e|the (logarithm|square root) of|can(not| ?'t) cast|invalid cast|CAST_INVALID/i;

const DIVISION = /(?:division|divide|remainder) by zero/i;

/** The error of a call to the cluster at `address`. */
export function clusterError(
  { code, details }: Pick<ServiceError, "details"> & { readonly code: number },
  address: string,
): ClusterError {
  if (code === DEADLINE_EXCEEDED) return new ClusterError("deadline", `the cluster ${address} took too long`);
  const errorClass = CLASS.exec(details)?.[1] ?? null;
  const text = plain(details);
  if (code === UNAVAILABLE) {
    return new ClusterError("unavailable", `the cluster ${address} is not available (${text}); check that it runs`);
  }
  if (errorClass === null && LOST.test(details)) {
    return new ClusterError("unavailable", `the cluster ${address} lost a worker or a connection (${text}); try again`);
  }
  if (!OWN_FAULT.test(`${errorClass ?? ""} ${details}`))
    return new ClusterError("broken", `the cluster ${address} reports: ${text}`, errorClass);
  const wayOut = DIVISION.test(details) ? "; divide by nullif(x, 0) to get a null instead" : "";
  return new ClusterError("failed", `the cluster reports: ${text}${wayOut}`, errorClass);
}

function plain(details: string): string {
  const line = (details.split("\n").find((each) => each.trim() !== "") ?? "no reason given")
    .replace(CLASS, "")
    .replace(PLACE, "")
    .replace(AROUND, "")
    .replace(ADVICE, "")
    .replace(PATH, "a file")
    .trim()
    .replace(/[.;]$/, "");
  return clip(printable(line), LONGEST);
}

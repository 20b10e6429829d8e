// The log: one JSON object a line, for programs that collect logs and for grep.
import { pino, stdTimeFunctions, type Logger } from "pino";
import type { LogLevel } from "../config.js";
import { printable } from "../printable.js";

export type Log = Pick<Logger, "info" | "warn" | "error" | "isLevelEnabled">;

/** `write` gets each line without its end, in which nothing steers a terminal. */
export function openLog(level: LogLevel, write: (line: string) => void): Log {
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => write(printable(line.trimEnd())) },
  );
}

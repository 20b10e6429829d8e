// Progress on stderr: a bar that is redrawn on a terminal, an occasional line elsewhere.
import { plural, printable, size } from "../words.js";
import { shortened } from "./out.js";

/** The progress of a piece of work. */
interface Step {
  readonly what: string;
  /** Rows or bytes; 0 of 0 if unknown. */
  readonly done: number;
  readonly total: number;
  readonly unit: "rows" | "bytes";
}

interface Progress {
  show(step: Step): void;
  done(): void;
}

/** Minimum interval between lines in milliseconds: on a terminal, and elsewhere. */
const EVERY = { terminal: 100, elsewhere: 5_000 };
/** No remaining time is shown before this many milliseconds of work. */
const GUESS_AFTER = 1_000;
const BAR = 20;

const AMOUNTS: Record<Step["unit"], (n: number) => string> = { rows: (n) => plural(n, "row"), bytes: size };

/** `clock` returns monotonic milliseconds. */
export function createProgress(
  out: Pick<NodeJS.WriteStream, "write" | "isTTY" | "columns">,
  clock: () => number = () => performance.now(),
): Progress {
  let started = clock();
  let last = -Infinity;
  let before = 0;
  let open = false;
  return {
    show(step) {
      const now = clock();
      // Less than before: another piece of work has begun.
      if (step.done < before) started = now;
      before = step.done;
      if (now - last < (out.isTTY ? EVERY.terminal : EVERY.elsewhere)) return;
      last = now;
      const line = printable(describe(step, now - started, out.isTTY));
      out.write(out.isTTY ? `\r\x1b[2K${shortened(line, (out.columns || 80) - 1)}` : `${line}\n`);
      open = out.isTTY;
    },
    done() {
      if (open) out.write("\r\x1b[2K");
      open = false;
    },
  };
}

function describe({ what, done, total, unit }: Step, milliseconds: number, onTerminal: boolean): string {
  const part = total > 0 ? Math.min(1, done / total) : 0;
  const pieces: string[] = [];
  if (total > 0) pieces.push(`${onTerminal ? `${bar(part)} ` : ""}${Math.floor(part * 100)} %`);
  if (done > 0)
    pieces.push(AMOUNTS[unit](done), `${AMOUNTS[unit](Math.round((done / Math.max(1, milliseconds)) * 1000))}/s`);
  if (part > 0 && milliseconds > GUESS_AFTER) pieces.push(`${clockTime((milliseconds / part) * (1 - part))} left`);
  return pieces.length === 0 ? what : `${pieces.join(", ")}  ${what}`;
}

const bar = (part: number): string => "█".repeat(Math.floor(part * BAR)).padEnd(BAR, "░");

/** E.g. `0:07`, `1:02:03`. */
function clockTime(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((n, i) => (i === 0 ? String(n) : String(n).padStart(2, "0"))).join(":");
}

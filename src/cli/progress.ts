// One line of progress on stderr: what is done, rows so far, rows a second. On a terminal it is written over.
export interface Progress {
  show(what: string, rows: number): void;
  done(): void;
}

/** At most this often a line is written where stderr is no terminal, in milliseconds. */
const QUIET_EVERY = 2_000;

export function createProgress(out: NodeJS.WriteStream): Progress {
  const started = performance.now();
  let lastWritten = -Infinity;
  let open = false;
  return {
    show(what, rows) {
      const now = performance.now();
      if (!out.isTTY && now - lastWritten < QUIET_EVERY) return;
      lastWritten = now;
      const rate = rows === 0 ? "" : `  ${rows.toLocaleString("en-US")} rows, ${rowsPerSecond(rows, now - started)}`;
      out.write(out.isTTY ? `\r\x1b[2K${what}${rate}` : `${what}${rate}\n`);
      open = out.isTTY;
    },
    done() {
      if (open) out.write("\r\x1b[2K");
      open = false;
    },
  };
}

function rowsPerSecond(rows: number, milliseconds: number): string {
  const rate = Math.round((rows / Math.max(1, milliseconds)) * 1000);
  return `${rate.toLocaleString("en-US")} rows/s`;
}

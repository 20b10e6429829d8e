// The versions that vacuum removed: a data_version a line, in ascending order and all of one length, so that looking
// one up reads a few lines however many there are.
import { open } from "node:fs/promises";

/** Bytes of a line: a data_version and the end of the line. */
const LINE = "1970-01-01T08:00:00.000+08:00\n".length;

export async function wasRemoved(path: string, dataVersion: string): Promise<boolean> {
  const handle = await open(path, "r").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  });
  if (!handle) return false;
  try {
    const line = Buffer.alloc(LINE);
    let low = 0;
    let high = Math.floor((await handle.stat()).size / LINE);
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      await handle.read(line, 0, LINE, middle * LINE);
      const found = line.toString("latin1", 0, LINE - 1);
      if (found === dataVersion) return true;
      if (found < dataVersion) low = middle + 1;
      else high = middle;
    }
    return false;
  } finally {
    await handle.close();
  }
}

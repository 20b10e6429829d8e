// Files of the manifest, in the data directory or, for a mirror, in its bucket.
import { readOrNone } from "../files.js";
import type { Layout } from "./layout.js";
import { DamagedManifestError } from "./manifest.js";
import { mirrorOf } from "./mirror/mirror.js";

/** The text of a file that never changes. `what` names it in the DamagedManifestError if there is none. */
export async function requireStateFile(layout: Layout, path: string, what: string): Promise<string> {
  const text = await readOrNone(path);
  if (text !== undefined) return text;
  const mirror = await mirrorOf(layout);
  const fetched = (await mirror?.pull.immutable(path)) ? await readOrNone(path) : undefined;
  if (fetched !== undefined) return fetched;
  throw new DamagedManifestError(`${what} is gone`, true);
}

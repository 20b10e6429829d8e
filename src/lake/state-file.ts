// Files of the manifest, in the data directory or, for a mirror, in its bucket.
import { readOrNone } from "../files.js";
import type { Layout } from "./layout.js";
import { DamagedManifestError } from "./manifest.js";
import { mirrorOf } from "./mirror/mirror.js";

/**
 * What `decode` makes of the text of a file that never changes; it throws a DamagedManifestError if the text is not whole. In a
 * mirror, a file that is missing or damaged is fetched. `what` names it in the DamagedManifestError if there is none.
 */
export async function readStateFile<T>(
  layout: Layout,
  path: string,
  what: string,
  decode: (text: string) => T,
): Promise<T> {
  const text = await readOrNone(path);
  try {
    if (text !== undefined) return decode(text);
  } catch (error) {
    if (!(error instanceof DamagedManifestError) || (await mirrorOf(layout)) === null) throw error;
  }
  const mirror = await mirrorOf(layout);
  const fetched = (await mirror?.pull.immutable(path)) ? await readOrNone(path) : undefined;
  if (fetched !== undefined) return decode(fetched);
  throw new DamagedManifestError(`${what} is gone`, true);
}

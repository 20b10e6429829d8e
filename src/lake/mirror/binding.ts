// Which bucket a data directory mirrors. Without `state/bucket.json` the lake itself is in the directory.
import { mkdir } from "node:fs/promises";
import { writeDurably } from "../../durable.js";
import { OperatorError } from "../../errors.js";
import { readOrNone } from "../../files.js";
import { layoutOf, type Layout } from "../layout.js";
import type { MirrorSize } from "./room.js";

export interface Binding {
  /** E.g. `s3://bucket/prefix`. */
  readonly address: string;
  /** How much of the disk the mirror's data files may fill. */
  readonly size: MirrorSize;
}

/** Null if the directory mirrors no bucket. */
export async function bindingOf(layout: Layout): Promise<Binding | null> {
  const text = await readOrNone(layout.bucket);
  return text === undefined ? null : parse(text, layout);
}

/** What users call a data directory: the bucket that it mirrors, or its path. */
export const placeOf = async (layout: Layout): Promise<string> => (await bindingOf(layout))?.address ?? layout.root;

function parse(text: string, layout: Layout): Binding {
  try {
    const { address, size } = JSON.parse(text) as Partial<Binding>;
    if (typeof address === "string" && (size === "auto" || typeof size === "number")) return { address, size };
  } catch {
    // Not JSON: reported below.
  }
  throw new OperatorError(`${layout.bucket} is damaged: remove ${layout.root}, which is only a mirror of a bucket`);
}

/** Makes a new or empty data directory the mirror of a bucket. An existing mirror of the same bucket keeps its files. */
export async function bindMirror(root: string, binding: Binding): Promise<void> {
  const layout = layoutOf(root);
  const before = await bindingOf(layout);
  const text = JSON.stringify(binding);
  if (before !== null && JSON.stringify(before) === text) return;
  if (before !== null && before.address !== binding.address)
    throw new OperatorError(`${root} mirrors ${before.address}: choose another folder with --mirror`, 2);
  if (before === null && (await readOrNone(layout.pointer)) !== undefined)
    throw new OperatorError(`${root} holds a lake of its own: choose an empty folder with --mirror`, 2);
  for (const folder of [layout.versions, layout.lists, layout.fetching]) await mkdir(folder, { recursive: true });
  await writeDurably(layout.bucket, `${text}\n`);
}

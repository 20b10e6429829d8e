// Damaged files, told from process to process: health is the same whichever of them is asked.
import { ENTITY_NAMES } from "../catalog/index.js";
import type { DataFile } from "../lake/manifest.js";
import type { Context } from "./context.js";

type Lake = Pick<Context, "lake" | "integrity">;

/** Paths of the served files that this process has found damaged. */
export async function damagedFiles({ lake, integrity }: Lake): Promise<readonly string[]> {
  return (await integrity.stillDamaged(servedFiles(lake))).map(({ path }) => path);
}

/** Looks at files that another process has found damaged. */
export async function lookAt({ lake, integrity }: Lake, paths: readonly string[]): Promise<void> {
  const suspects = servedFiles(lake).filter(({ path }) => paths.includes(path));
  await Promise.allSettled(suspects.map((file) => integrity.check([file])));
}

function servedFiles(lake: Context["lake"]): readonly DataFile[] {
  const files = lake.opened()?.files;
  if (!files) return [];
  return ENTITY_NAMES.flatMap((name) => [...files(name).byDate, ...files(name).byCode]);
}

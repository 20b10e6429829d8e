// Before a mirror makes its first conditional write, its bucket must have been found to honour conditions.
import { exists, writeDurably } from "../../durable.js";
import { requireConditions } from "../../objects/conditions.js";
import type { ObjectStore } from "../../objects/object-store.js";
import type { Layout } from "../layout.js";

/** The same objects, whose conditional writes throw an OperatorError if the store ignores conditions. */
export function checkingConditions(layout: Layout, objects: ObjectStore): ObjectStore {
  let checked: Promise<void> | undefined;
  const check = async (): Promise<void> => {
    if (await exists(layout.bucketChecked)) return;
    await requireConditions(objects);
    await writeDurably(layout.bucketChecked, "");
  };
  /** Once for each mirror, in whichever process is the first. */
  const checkOnce = (): Promise<void> =>
    (checked ??= check().catch((error: unknown) => {
      checked = undefined;
      throw error;
    }));
  return {
    ...objects,
    async create(key, content) {
      await checkOnce();
      return objects.create(key, content);
    },
    async replaceIf(key, content, tag) {
      await checkOnce();
      return objects.replaceIf(key, content, tag);
    },
  };
}

// Whether a store honours conditional writes. An S3 server that ignores them would let writers overwrite each other.
import { randomUUID } from "node:crypto";
import { OperatorError } from "../errors.js";
import type { ObjectStore } from "./object-store.js";

/**
 * Writes an object under conditions that hold and under conditions that do not, and removes it. Its key is below
 * `probe/`. Throws an OperatorError if a condition makes no difference, and whatever the store throws.
 */
export async function requireConditions(objects: ObjectStore): Promise<void> {
  const key = `probe/${randomUUID()}`;
  const create = (text: string): Promise<string | undefined> => objects.create(key, Buffer.from(text));
  const replace = (text: string, tag: string): Promise<string | undefined> =>
    objects.replaceIf(key, Buffer.from(text), tag);
  const refuse = (problem: string): never => {
    throw new OperatorError(`${objects.address} ${problem}: use an S3 server with conditional writes`);
  };
  const ignores = (condition: string): never =>
    refuse(`ignores the condition ${condition}, so that writers would overwrite each other's changes`);
  try {
    const tag = (await create("first")) ?? refuse("refuses to write a new object with If-None-Match: *");
    if ((await create("second")) !== undefined) ignores("If-None-Match: *");
    if ((await replace("third", tag)) === undefined) refuse("refuses to replace an unchanged object with If-Match");
    if ((await replace("fourth", tag)) !== undefined) ignores("If-Match");
  } finally {
    // What is left does no harm.
    await objects.remove([key]).catch(() => undefined);
  }
}

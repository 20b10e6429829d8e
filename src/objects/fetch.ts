import type { ObjectStore } from "./object-store.js";
export async function* fetchParts(objects: ObjectStore, key: string, size: number): AsyncGenerator<Buffer> {
  const found = await objects.get(key);
  if (found && size > 0) yield found.bytes;
}

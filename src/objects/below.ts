// A part of a store as a store of its own.
import type { ObjectStore } from "./object-store.js";

/** The objects whose keys begin with `prefix`, which ends with a slash; their keys are without it. */
export function below(objects: ObjectStore, prefix: string): ObjectStore {
  const of = (key: string): string => prefix + key;
  return {
    address: `${objects.address}/${prefix.slice(0, -1)}`,
    get: (key, options) => objects.get(of(key), options),
    put: (key, content) => objects.put(of(key), content),
    create: (key, content) => objects.create(of(key), content),
    replaceIf: (key, content, tag) => objects.replaceIf(of(key), content, tag),
    async *list(within, after) {
      for await (const object of objects.list(of(within), after === undefined ? undefined : of(after)))
        yield { ...object, key: object.key.slice(prefix.length) };
    },
    remove: (keys) => objects.remove(keys.map(of)),
    close: () => undefined,
  };
}

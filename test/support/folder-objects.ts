// Objects in a folder for tests: what was written before a failure stays, as after a crash.
import { createHash, randomUUID } from "node:crypto";
import { link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Content, ObjectStore } from "../../src/objects/object-store.js";

/** `before` is called before each writing call, with its name and key, and may throw. */
export function folderObjects(
  root: string,
  before: (call: string, key: string) => void = () => undefined,
): ObjectStore {
  const tagOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
  const read = (key: string): Promise<Buffer | undefined> => readFile(join(root, key)).catch(() => undefined);
  const write = async (key: string, content: Content, place: typeof rename): Promise<string> => {
    const bytes = "path" in content ? await readFile(content.path) : content;
    const temporary = join(root, `.${randomUUID()}`);
    await mkdir(dirname(join(root, key)), { recursive: true });
    await writeFile(temporary, bytes);
    try {
      await place(temporary, join(root, key));
    } finally {
      await rm(temporary, { force: true });
    }
    return tagOf(bytes);
  };
  return {
    address: root,
    async get(key) {
      const bytes = await read(key);
      return bytes && { bytes, tag: tagOf(bytes), modified: (await stat(join(root, key))).mtime };
    },
    put(key, content) {
      before("put", key);
      return write(key, content, rename);
    },
    create(key, content) {
      before("create", key);
      return write(key, content, link).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        return undefined;
      });
    },
    async replaceIf(key, content, tag) {
      before("replaceIf", key);
      const bytes = await read(key);
      return bytes && tagOf(bytes) === tag ? write(key, content, rename) : undefined;
    },
    async *list(prefix, after = "") {
      const folder = join(root, prefix);
      const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
      const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
      for (const path of files.sort()) {
        const key = relative(root, path);
        const bytes = key > after ? await read(key) : undefined;
        if (bytes) yield { key, size: bytes.length, tag: tagOf(bytes), modified: (await stat(path)).mtime };
      }
    },
    async remove(keys) {
      for (const key of keys) {
        before("remove", key);
        await rm(join(root, key), { force: true });
      }
    },
    close: () => undefined,
  };
}

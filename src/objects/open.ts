import { mkdir, readdir, readFile, rm, stat, writeFile, link, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { randomUUID, createHash } from "node:crypto";
import type { ObjectStore, Content } from "./object-store.js";
export async function openObjects(address: string): Promise<ObjectStore> {
  const at = (key: string) => join(address, key);
  const tagOf = (b: Buffer) => createHash("md5").update(b).digest("hex");
  const bytesOf = async (c: Content) => Buffer.from(c instanceof Uint8Array ? c : await readFile(c.path));
  const temp = async (key: string, b: Buffer) => { await mkdir(dirname(at(key)), { recursive: true }); const t = join(address, `.tmp-${randomUUID()}`); await writeFile(t, b); return t; };
  const read = (key: string) => readFile(at(key)).catch(() => undefined);
  let turn: Promise<unknown> = Promise.resolve();
  return {
    address,
    async get(key, o = {}) { const b = await read(key); if (!b) return undefined; const tag = tagOf(b); if (o.unless === tag) return null; return { bytes: o.range ? b.subarray(...o.range) : b, tag, modified: (await stat(at(key))).mtime }; },
    async put(key, c) { const b = await bytesOf(c); await rename(await temp(key, b), at(key)); return tagOf(b); },
    async create(key, c) { const b = Buffer.from(c); const t = await temp(key, b); try { await link(t, at(key)); return tagOf(b); } catch { return undefined; } finally { await rm(t, { force: true }); } },
    replaceIf(key, c, tag) { const d = turn.then(async () => { const b = await read(key); if (!b || tagOf(b) !== tag) return undefined; const n = Buffer.from(c); await rename(await temp(key, n), at(key)); return tagOf(n); }); turn = d; return d; },
    async *list(prefix, after) { const all = (await readdir(address, { recursive: true, withFileTypes: true }).catch(() => [])).filter((e) => e.isFile()).map((e) => join(e.parentPath, e.name).slice(address.length + 1)).filter((k) => k.startsWith(prefix) && (after === undefined || k > after)).sort(); for (const key of all) { const s = await stat(at(key)); yield { key, size: s.size, tag: "", modified: s.mtime }; } },
    async remove(keys) { for (const k of keys) await rm(at(k), { force: true }); },
    close() {},
  };
}

// A process that works on objects: `ADDRESS KEY TIMES` adds one to a number TIMES times.
import { openObjects } from "../../src/objects/open.js";

const [address, key, times] = process.argv.slice(2);
const store = await openObjects(address);
for (let done = 0; done < Number(times);) {
  const found = await store.get(key);
  if (!found) throw new Error(`${key} is gone`);
  const next = Buffer.from(String(Number(found.bytes.toString()) + 1));
  if ((await store.replaceIf(key, next, found.tag)) !== undefined) done++;
}
store.close();

// Creates one object in the folder FOLDER 20 times at once, and prints how many succeeded.
import { openObjects } from "../../src/objects/open.js";

const store = await openObjects(process.argv[2]);
const tags = await Promise.all(Array.from({ length: 20 }, (_, i) => store.create("a", Buffer.from(String(i)))));
console.log(`${tags.filter((tag) => tag !== undefined).length} of ${tags.length}`);

// A process that fetches the first row group of a file.
import { createIntegrity } from "../../src/lake/integrity.js";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf } from "../../src/lake/layout.js";

const [root] = process.argv.slice(2);
const [file] = (await openLake(root!)).current().files("adj_factor").byDate;
await createIntegrity(layoutOf(root!)).check([file!], () => [0]);

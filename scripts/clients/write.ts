// `npm run clients`: writes the generated parts of the clients.
import { writeFile } from "node:fs/promises";
import { CLIENT_FILES } from "./files.js";

for (const [path, text] of Object.entries(CLIENT_FILES)) {
  await writeFile(new URL(`../../${path}`, import.meta.url), text());
}

// Builds what browsers load, dist/web: modules from src/web, its pages and styles, and files of packages as they are.
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync } from "node:fs";
import { extname, join } from "node:path";

const root = join(import.meta.dirname, "..");
const from = (name) => join(root, "node_modules", name);
const to = (path) => join(root, "dist", "web", path);

/** Copied with their licences, so that the pages ask no other host. */
const VENDOR = {
  "lightweight-charts.js": "lightweight-charts/dist/lightweight-charts.standalone.production.mjs",
  "lightweight-charts.LICENSE.txt": "lightweight-charts/LICENSE",
  "swagger-ui-bundle.js": "swagger-ui-dist/swagger-ui-bundle.js",
  "swagger-ui-bundle.js.LICENSE.txt": "swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt",
  "swagger-ui.css": "swagger-ui-dist/swagger-ui.css",
  "swagger-ui.LICENSE.txt": "swagger-ui-dist/LICENSE",
  "swagger-ui.NOTICE.txt": "swagger-ui-dist/NOTICE",
};

const tsc = [from("typescript/bin/tsc"), "-p", join(root, "src", "web")];
const { status } = spawnSync(process.execPath, tsc, { stdio: ["ignore", 2, 2] });
if (status !== 0) process.exit(1);

const isPlain = (path) => extname(path) === "" || /\.(?:html|css|svg)$/.test(path);
cpSync(join(root, "src", "web"), to("."), { recursive: true, filter: isPlain });
mkdirSync(to("vendor"), { recursive: true });
for (const [name, path] of Object.entries(VENDOR)) copyFileSync(from(path), to(join("vendor", name)));

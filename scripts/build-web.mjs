// Builds dist/web for browsers: modules from src/web, its pages and styles, and files copied from packages.
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync } from "node:fs";
import { extname, join } from "node:path";
import { VENDOR } from "./vendor.mjs";

const root = join(import.meta.dirname, "..");
const from = (name) => join(root, "node_modules", name);
const to = (path) => join(root, "dist", "web", path);

const tsc = [from("typescript/bin/tsc"), "-p", join(root, "src", "web")];
const { status } = spawnSync(process.execPath, tsc, { stdio: ["ignore", 2, 2] });
if (status !== 0) process.exit(1);

const isPlain = (path) => extname(path) === "" || /\.(?:html|css|svg)$/.test(path);
cpSync(join(root, "src", "web"), to("."), { recursive: true, filter: isPlain });
mkdirSync(to("vendor"), { recursive: true });
for (const [name, path] of Object.entries(VENDOR)) copyFileSync(from(path), to(join("vendor", name)));

// Headless Chromium, for tests in a browser. Without it tests are skipped, in CI they fail.
import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { describe } from "vitest";
import { afterEachFile } from "./folders.js";

const PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

const executable = PLACES.find((place) => existsSync(place));

/** In CI one has to be there. */
export const hasBrowser = executable !== undefined || process.env.CI !== undefined;

/** Milliseconds that a test may take on a machine that others load too; a third of it for each step. */
const PATIENCE = 180_000;

/** `describe`, skipped with a message where no Chromium is found. */
export const describeInBrowser = (name: string, body: () => void): void => {
  if (hasBrowser) describe(name, { timeout: PATIENCE }, body);
  else describe.skip(`${name} (skipped: no Chromium here)`, body);
};

let started: Promise<Browser> | undefined;

/** One browser for a test file, started when it is first needed. */
async function browser(): Promise<Browser> {
  if (executable === undefined) throw new Error(`no Chromium at ${PLACES.join(", ")}`);
  started ??= chromium.launch({ executablePath: executable, args: ["--disable-gpu"] });
  return started;
}

export interface OpenPage {
  readonly page: Page;
  /** What the page complains of: errors, violations of its policy, requests to other hosts or that fail. */
  readonly complaints: string[];
}

/** A blank page with no memory of others. `home` is the only origin that it may talk to. */
export async function openPage(home: string, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const context = await (await browser()).newContext({ locale: "en-GB", ...options });
  context.setDefaultTimeout(PATIENCE / 3);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== new URL(home).origin) {
      complaints.push(`asked ${request.url()}`);
    }
  });
  return { page, complaints };
}

const sites: Server[] = [];

/** A site of another origin with an empty page and the built client. Resolves to its origin; it ends with the test file. */
export async function serveClient(): Promise<string> {
  const dist = join(import.meta.dirname, "../../dist");
  const site = createServer((request, response) => {
    if (!request.url!.endsWith(".js")) return response.setHeader("Content-Type", "text/html").end("<!doctype html>");
    return response.setHeader("Content-Type", "text/javascript").end(readFileSync(dist + request.url!));
  });
  sites.push(site);
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
}

afterEachFile(async () => {
  for (const site of sites.splice(0)) site.close();
  await (await started)?.close();
  started = undefined;
});

// `--data s3://bucket/prefix`: a command works on a mirror of the bucket, which it brings up to date first.
import { createHash } from "node:crypto";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { UnavailableError } from "../lake/continuity.js";
import { layoutOf, type Layout } from "../lake/layout.js";
import { openMirror, type Mirror } from "../lake/mirror/mirror.js";
import { readPointer } from "../lake/kept-versions.js";
import { SETTINGS } from "../settings.js";
import { givenFor } from "./mirror-options.js";
import { followLedger } from "../store/ledger-file.js";
import { note } from "./out.js";

/** Opens the mirror that a command was given for a bucket, and brings its state up to date. Resolves to its folder. */
export async function openGivenMirror(command: Command, address: string): Promise<string> {
  const given = (name: "mirror" | "mirrorSize"): string => givenFor(command, name);
  const root = SETTINGS.mirror.parse(given("mirror"), "--mirror") ?? join(cacheFolder(), nameOf(address));
  const size = SETTINGS.mirrorSize.parse(given("mirrorSize"), "--mirror-size");
  const mirror = await openMirror(root, { address, size });
  // A restore looks at the bucket itself.
  if (command.name() !== "restore") await refresh(mirror, layoutOf(root), command.name() === "serve");
  return root;
}

/** Brings the state up to date. A server can start with what was fetched before. */
async function refresh(mirror: Mirror, layout: Layout, mayBeStale: boolean): Promise<void> {
  try {
    const follow = async (): Promise<void> => {
      await mirror.pull.versions(true);
      await mirror.pull.files(layout.tokens, layout.gaps);
    };
    await Promise.all([follow(), followLedger(layout)]);
  } catch (error) {
    if (!(error instanceof UnavailableError && mayBeStale && (await readPointer(layout)) > 0)) throw error;
    note(`${error.message}; serving what was fetched before`);
  }
}

function cacheFolder(): string {
  const cache = process.env["XDG_CACHE_HOME"] || (homedir() === "/" ? tmpdir() : join(homedir(), ".cache"));
  return join(cache, "tapehouse");
}

/** A folder name that is legible and different for each bucket. */
const nameOf = (address: string): string => {
  const digest = createHash("sha256")
    .update(`${process.env["AWS_ENDPOINT_URL"] ?? ""} ${address}`)
    .digest("hex");
  return `${address.slice("s3://".length).replaceAll(/[^\w.-]+/g, "-")}-${digest.slice(0, 8)}`;
};

// `--data s3://bucket/prefix`: a command works on a mirror of the bucket, which it brings up to date first.
import { createHash } from "node:crypto";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { layoutOf, type Layout } from "../lake/layout.js";
import { bindMirror } from "../lake/mirror/binding.js";
import { openMirror, type Mirror } from "../lake/mirror/mirror.js";
import { SETTINGS } from "../settings.js";
import { givenFor } from "./mirror-options.js";
import { followLedger } from "../store/ledger-file.js";

/**
 * Opens the mirror that a command was given for a bucket, and brings its state up to date. Resolves to its folder. A server
 * leaves the state to the process that follows the bucket.
 */
export async function openGivenMirror(command: Command, address: string): Promise<string> {
  const given = (name: "mirror" | "mirrorSize"): string => givenFor(command, name);
  const root = SETTINGS.mirror.parse(given("mirror"), "--mirror") ?? join(cacheFolder(), nameOf(address));
  const size = SETTINGS.mirrorSize.parse(given("mirrorSize"), "--mirror-size");
  const binding = { address, size };
  if (command.name() === "serve" && command.getOptionValue("demo") !== true) await bindMirror(root, binding);
  else {
    const mirror = await openMirror(root, binding);
    // A restore looks at the bucket itself.
    if (command.name() !== "restore") await refresh(mirror, layoutOf(root));
  }
  return root;
}

/** Brings the state up to date. */
export async function refresh({ pull }: Mirror, layout: Layout): Promise<void> {
  await Promise.all([pull.versions(true, layout.tokens, layout.gaps), followLedger(layout)]);
}

function cacheFolder(): string {
  const cache = process.env["XDG_CACHE_HOME"] || (homedir() === "/" ? tmpdir() : join(homedir(), ".cache"));
  return join(cache, "tapehouse");
}

/** A folder name that is legible and different for each bucket. */
const nameOf = (address: string): string => {
  const endpoint = process.env["AWS_ENDPOINT_URL_S3"] || process.env["AWS_ENDPOINT_URL"] || "";
  const digest = createHash("sha256").update(`${endpoint} ${address}`).digest("hex");
  return `${address.slice("s3://".length).replaceAll(/[^\w.-]+/g, "-")}-${digest.slice(0, 8)}`;
};

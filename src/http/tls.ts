// The certificate and its key: read at the start, and again when their files change.
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { ServerConfig } from "../config.js";
import { CommandError } from "../errors.js";
import { stampOf } from "../lake/integrity.js";

export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

type Files = NonNullable<ServerConfig["tls"]>;

/** Throws a CommandError that names the option where a file cannot be read or the two do not serve. */
export async function readCertificate(files: Files): Promise<Certificate> {
  const [cert, key] = await Promise.all([readOption("--tls-cert", files.cert), readOption("--tls-key", files.key)]);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const pair = `--tls-cert ${files.cert} and --tls-key ${files.key}`;
    throw new CommandError(`${pair} do not make a TLS server: ${(error as Error).message}`);
  }
  return { cert, key };
}

async function readOption(option: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new CommandError(`${option} ${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** A function that resolves to the new certificate where the files have changed since it last did, and rejects until they serve. */
export async function followCertificate(files: Files): Promise<() => Promise<Certificate | null>> {
  let seen = await stampsOf(files);
  return async () => {
    const now = await stampsOf(files);
    if (now === seen) return null;
    const certificate = await readCertificate(files);
    seen = now;
    return certificate;
  };
}

/** Files that are being replaced may be gone for a moment. */
const stampsOf = async ({ cert, key }: Files): Promise<string> =>
  (await Promise.all([cert, key].map(stampOf))).join(", ");

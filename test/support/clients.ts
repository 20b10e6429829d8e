// Common clients: do they notice that a response is incomplete?
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Page } from "playwright-core";

/** "whole" where the client takes the body for complete, "cut" where it tells of a failure. */
type Outcome = "whole" | "cut";

export interface Ask {
  readonly url: string;
  readonly token: string;
  readonly encoding: "identity" | "gzip";
}

export type Client = (ask: Ask) => Promise<Outcome>;

const run = promisify(execFile);
const PYTHON = fileURLToPath(new URL("../../.venv/bin/python", import.meta.url));
export const hasPython = existsSync(PYTHON);

export const curl: Client = async ({ url, token, encoding }) => {
  const packed = encoding === "gzip" ? ["--compressed"] : [];
  const args = ["-sSf", "-o", "/dev/null", ...packed, "-H", `Authorization: Bearer ${token}`, url];
  return run("curl", args).then(
    () => "whole",
    () => "cut",
  );
};

const undiciWith =
  (connection: "keep-alive" | "close"): Client =>
  async ({ url, token, encoding }) => {
    const headers = { Authorization: `Bearer ${token}`, "Accept-Encoding": encoding, Connection: connection };
    try {
      const response = await fetch(url, { headers });
      await response.arrayBuffer();
      return response.ok ? "whole" : "cut";
    } catch {
      return "cut";
    }
  };

/** The fetch of Node. */
export const undici = undiciWith("keep-alive");
export const closingUndici = undiciWith("close");

const REQUESTS = `
import sys, requests
url, token, encoding = sys.argv[1:]
try:
    r = requests.get(url, headers={"Authorization": "Bearer " + token, "Accept-Encoding": encoding}, timeout=120)
    r.raise_for_status()
    print("whole", len(r.content))
except requests.RequestException as e:
    print("cut", type(e).__name__)
`;

export const requests: Client = async ({ url, token, encoding }) => {
  const { stdout } = await run(PYTHON, ["-c", REQUESTS, url, token, encoding]);
  return stdout.startsWith("whole") ? "whole" : "cut";
};

/** A browser says itself which encodings it takes. The page has to be of the same origin. */
export const browserFetch =
  (page: Page): Client =>
  async ({ url, token }) =>
    page.evaluate(
      async ([address, authorization]) => {
        try {
          const response = await fetch(address!, { headers: { Authorization: authorization! } });
          await response.arrayBuffer();
          return response.ok ? "whole" : "cut";
        } catch {
          return "cut";
        }
      },
      [url, `Bearer ${token}`],
    );

// A bucket that is as far away as a real one: a server of S3 behind a proxy that delays responses and limits the bandwidth of
// each connection.
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { openBucketProxy } from "../../test/support/bucket-proxy.js";
import { ROOT } from "./servers.js";

const PROGRAM = join(ROOT, ".readers/versitygw/versitygw");

/** Milliseconds to the first byte, and bytes a second of a connection. */
export const FAR_AWAY = { delay: 30, bandwidth: 90e6 };

/** Calls `use` while the variables of this process name a bucket `bench` that is kept in `folder`. */
export async function withBucket<T>(folder: string, use: () => Promise<T>): Promise<T> {
  if (!existsSync(PROGRAM)) throw new Error("there is no server of S3: node scripts/versitygw.mjs builds it");
  await mkdir(join(folder, "bench"), { recursive: true });
  const own = await mkdtemp(join(tmpdir(), "bench-bucket-"));
  const socket = join(own, "socket");
  const keys = { ROOT_ACCESS_KEY: "bench", ROOT_SECRET_KEY: "bench-secret" };
  const child = spawn(PROGRAM, ["--port", socket, "--keep-alive", "--quiet", "posix", folder], {
    env: { ...process.env, ...keys },
    stdio: "ignore",
  });
  const kill = (): void => void child.kill();
  process.once("exit", kill);
  const ended = new Promise((resolve) => child.once("close", resolve));
  try {
    while (!existsSync(socket)) await sleep(50);
    const proxy = await openBucketProxy(socket);
    proxy.fault = ({ method }) => (method === "GET" ? FAR_AWAY : undefined);
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: keys.ROOT_ACCESS_KEY,
      AWS_SECRET_ACCESS_KEY: keys.ROOT_SECRET_KEY,
      AWS_ENDPOINT_URL: proxy.url,
      AWS_REGION: "us-east-1",
    });
    try {
      return await use();
    } finally {
      await proxy.close();
    }
  } finally {
    process.off("exit", kill);
    child.kill();
    await ended;
    await rm(own, { recursive: true, force: true });
  }
}

/** Fetches objects one after another over one connection, with curl, while `withBucket` runs. Paths begin with the bucket. */
export async function pullOverOneConnection(
  paths: readonly string[],
): Promise<{ readonly seconds: number; readonly bytes: number }> {
  const {
    AWS_ENDPOINT_URL: url,
    AWS_ACCESS_KEY_ID: id,
    AWS_SECRET_ACCESS_KEY: secret,
    AWS_REGION: region,
  } = process.env;
  const access = ["--aws-sigv4", `aws:amz:${region}:s3`, "--user", `${id}:${secret}`];
  const unsigned = ["-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD"];
  const wanted = paths.flatMap((path) => ["-o", "/dev/null", `${url}/${path}`]);
  const write = "%{time_total} %{size_download}\\n";
  const { stdout } = await promisify(execFile)("curl", ["-sS", "-f", ...access, ...unsigned, "-w", write, ...wanted]);
  const each = stdout
    .trim()
    .split("\n")
    .map((line) => line.split(" ").map(Number) as [number, number]);
  const sum = (of: 0 | 1): number => each.reduce((total, one) => total + one[of], 0);
  return { seconds: sum(0), bytes: sum(1) };
}

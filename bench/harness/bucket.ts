// A bucket that is as far away as a real one: a server of S3 behind a proxy that delays responses and limits the bandwidth of
// each connection.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
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

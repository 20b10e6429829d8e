// A bucket of a real S3 server, behind a proxy. Tests that need it are skipped unless `node scripts/versitygw.mjs` has
// built the server.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { openBucketProxy, type BucketProxy, type Fault, type Seen } from "./bucket-proxy.js";
import { sign } from "aws4";
import { afterEachFile, temporaryFolder } from "./folders.js";
import { until } from "./processes.js";

const PROGRAM = join(import.meta.dirname, "../../.readers/versitygw/versitygw");

export const hasVersitygw = existsSync(PROGRAM);

if (!hasVersitygw) console.log("tests with buckets are skipped: node scripts/versitygw.mjs builds their server");

export const ACCESS_KEY = "tapehouse-tests";
export const SECRET_KEY = "not-to-be-shown-anywhere";

export interface TestBucket {
  readonly name: string;
  readonly proxy: BucketProxy;
  /** The variables with which programs find the bucket. */
  readonly env: NodeJS.ProcessEnv;
  /** Where the server keeps the objects of the bucket as files. */
  readonly folder: string;
}

const servers: { readonly child: ChildProcess; readonly proxy: BucketProxy }[] = [];

/** A new server with one bucket. It ends with the test file. */
export async function startBucket(name = "market"): Promise<TestBucket> {
  const root = await temporaryFolder();
  const folder = join(root, "buckets", name);
  const users = join(root, "users");
  for (const path of [folder, users]) await mkdir(path, { recursive: true });
  const socket = join(root, "socket");
  const options = ["--port", socket, "--iam-dir", users, "--keep-alive", "--quiet"];
  const child = spawn(PROGRAM, [...options, "posix", join(root, "buckets")], {
    env: { ...process.env, ROOT_ACCESS_KEY: ACCESS_KEY, ROOT_SECRET_KEY: SECRET_KEY },
    stdio: "ignore",
  });
  await until("the S3 server listens", () => (existsSync(socket) ? true : undefined));
  const proxy = await openBucketProxy(socket);
  servers.push({ child, proxy });
  const env = {
    AWS_ACCESS_KEY_ID: ACCESS_KEY,
    AWS_SECRET_ACCESS_KEY: SECRET_KEY,
    AWS_ENDPOINT_URL: proxy.url,
    AWS_REGION: "us-east-1",
    AWS_CONFIG_FILE: join(root, "no-config"),
    AWS_SHARED_CREDENTIALS_FILE: join(root, "no-credentials"),
    AWS_EC2_METADATA_DISABLED: "true",
  };
  return { name, proxy, env, folder };
}

/** Variables of a new user of the server, who may do nothing yet. */
export async function createUser({ proxy, env }: TestBucket, name: string): Promise<NodeJS.ProcessEnv> {
  const admin = ["--access", ACCESS_KEY, "--secret", SECRET_KEY, "--endpoint-url", proxy.url];
  const user = ["--access", name, "--secret", `secret of ${name}`, "--role", "user"];
  await promisify(execFile)(PROGRAM, ["admin", ...admin, "create-user", ...user]);
  return { ...env, AWS_ACCESS_KEY_ID: name, AWS_SECRET_ACCESS_KEY: `secret of ${name}` };
}

/** A request without its conditions, signed again: the server behaves as one that knows none. */
export function withoutConditions({ method, path, headers }: Seen): Fault {
  const replaced = ["if-match", "if-none-match", "authorization", "x-amz-date"];
  const others = Object.fromEntries(Object.entries(headers).filter(([name]) => !replaced.includes(name)));
  const keys = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };
  const signed = sign({ method, path, headers: others, service: "s3", region: "us-east-1" }, keys);
  return { headers: signed.headers as Seen["headers"] };
}

afterEachFile(async () => {
  for (const { child, proxy } of servers.splice(0)) {
    await proxy.close();
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGTERM");
    await ended;
  }
});

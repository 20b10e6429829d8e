// Addresses of stores, and whose credentials open a bucket. Nothing secret is shown.
import { createServer } from "node:http";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type AddressInfo } from "node:net";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { OperatorError } from "../../src/errors.js";
import { openObjects } from "../../src/objects/open.js";
import { collect } from "../support/collect.js";
import { temporaryFolder } from "../support/folders.js";
import { ACCESS_KEY, hasVersitygw, SECRET_KEY, startBucket, type TestBucket } from "../support/versitygw.js";

const NO_BUCKET = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b", AWS_ENDPOINT_URL: "http://127.0.0.1:1" };

const openError = (address: string, env: NodeJS.ProcessEnv = NO_BUCKET): Promise<OperatorError> =>
  openObjects(address, { env }).then(
    () => expect.unreachable("it was opened"),
    (error: unknown) => error as OperatorError,
  );

describe("an address", () => {
  const EXPECTED = ": expected a folder, s3://bucket or s3://bucket/prefix";

  test.each([
    ["", `"" is not an address${EXPECTED}`],
    ["s3:/x", `s3:/x is not the address of a bucket${EXPECTED}`],
    ["s3:x", `s3:x is not the address of a bucket${EXPECTED}`],
    ["s3://", `s3:// names no bucket${EXPECTED}`],
    ["s3:///x", `s3:///x names no bucket${EXPECTED}`],
    ["gs://bucket", `gs:// is not a kind of address that is known${EXPECTED}`],
    ["https://user:hidden@host/x", `https:// is not a kind of address that is known${EXPECTED}`],
    ["s3://host:9000/x", "names a server where the bucket should be (set AWS_ENDPOINT_URL"],
    ["s3://Bucket", "s3://Bucket does not name a valid bucket (3 to 63 lower-case letters, digits, dots and hyphens)"],
    ["s3://ab", "does not name a valid bucket"],
    ["s3://b%20b", "does not name a valid bucket"],
    ["s3://bücher", "does not name a valid bucket"],
    ["s3://bucket/a//b", "has a prefix with an empty, too long or misleading part"],
    ["s3://bucket//", "has a prefix with an empty"],
    ["s3://bucket/../b", "has a prefix with an empty"],
    ["s3://bucket/a/./b", "has a prefix with an empty"],
    ["s3://bucket/a?region=x", "has a prefix with ? or #"],
    ["s3://bucket/a\nb", '"s3://bucket/a\\nb" has a prefix with unprintable characters'],
    ["s3://key:hidden@bucket/x", "has no user name and no password: set AWS_ACCESS_KEY_ID"],
  ])("%j is refused", async (address, message) => {
    const error = await openError(address);
    expect(error).toBeInstanceOf(OperatorError);
    expect(error.exitCode).toBe(2);
    expect(error.message).toContain(message);
    expect(error.message).not.toContain("hidden");
  });

  test.each([
    ["s3://bucket", "s3://bucket"],
    ["S3://bucket/", "s3://bucket"],
    ["s3://my.bucket-1/a/b/", "s3://my.bucket-1/a/b"],
    ["s3://bucket/two words/日本", "s3://bucket/two words/日本"],
  ])("%j is that of a bucket", async (address, shown) => {
    expect((await openObjects(address, { env: NO_BUCKET })).address).toBe(shown);
  });

  test("without a scheme is the path of a folder", async () => {
    const folder = await temporaryFolder();
    expect((await openObjects(folder)).address).toBe(folder);
    expect((await openObjects("./some folder")).address).toBe(join(process.cwd(), "some folder"));
  });
});

describe("settings of a bucket", () => {
  test.each([
    [{ AWS_ENDPOINT_URL: "localhost:9000" }, "is localhost:9000: expected an address like https://s3.example.com:9000"],
    [{ AWS_ENDPOINT_URL: "http://h/?x=1" }, "expected an address like"],
    [{ AWS_ENDPOINT_URL: "http://user:hidden@h" }, "has a user name or a password: set AWS_ACCESS_KEY_ID"],
    [{ AWS_ENDPOINT_URL_S3: "nonsense" }, "the endpoint of S3"],
    [{ AWS_SECRET_ACCESS_KEY: "" }, "AWS_ACCESS_KEY_ID is set without AWS_SECRET_ACCESS_KEY: set both"],
    [{ AWS_ACCESS_KEY_ID: "" }, "AWS_SECRET_ACCESS_KEY is set without AWS_ACCESS_KEY_ID: set both"],
    [{ AWS_VIRTUAL_HOSTED_STYLE_REQUEST: "yes" }, "is yes: expected true or false"],
  ])("%j are refused", async (env, message) => {
    const error = await openError("s3://bucket", { ...NO_BUCKET, ...env });
    expect(error).toBeInstanceOf(OperatorError);
    expect(error.message).toContain(message);
    expect(error.message).not.toContain("hidden");
  });
});

describe.skipIf(!hasVersitygw)("a bucket", () => {
  let bucket: TestBucket;
  let folder: string;

  beforeAll(async () => {
    bucket = await startBucket();
    folder = await temporaryFolder();
  });

  beforeEach(() => {
    bucket.proxy.requests.length = 0;
  });

  afterEach(() => {
    vi.unstubAllEnvs();
  });

  /** Writes files for AWS programs, each test its own: the parsed files are kept. */
  async function withFiles(config: string, credentials: string): Promise<NodeJS.ProcessEnv> {
    const name = String(Math.random());
    const [configFile, credentialsFile] = [join(folder, `${name}.config`), join(folder, `${name}.credentials`)];
    await writeFile(configFile, config);
    await writeFile(credentialsFile, credentials);
    return {
      AWS_CONFIG_FILE: configFile,
      AWS_SHARED_CREDENTIALS_FILE: credentialsFile,
      AWS_EC2_METADATA_DISABLED: "true",
    };
  }

  const KEYS = `aws_access_key_id = ${ACCESS_KEY}\naws_secret_access_key = ${SECRET_KEY}\n`;

  async function roundTrip(env: NodeJS.ProcessEnv): Promise<void> {
    const store = await openObjects(`s3://${bucket.name}/two words/${Math.random()}`, { env, patience: 500 });
    await store.put("a/b.json", Buffer.from("1"));
    expect((await store.get("a/b.json"))!.bytes.toString()).toBe("1");
    expect((await collect(store.list("a/"))).map(({ key }) => key)).toEqual(["a/b.json"]);
  }

  test("is opened with the keys of a profile, and the endpoint and region beside them", async () => {
    const config = `[default]\nregion = us-east-1\nendpoint_url = ${bucket.proxy.url}\n`;
    await roundTrip(await withFiles(config, `[default]\n${KEYS}`));
  });

  test("is opened with a profile of another name, whose section for services names the endpoint", async () => {
    const config = `[profile tests]\nservices = local\n[services local]\ns3 =\n  endpoint_url = ${bucket.proxy.url}\n`;
    const env = await withFiles(
      config,
      `[default]\naws_access_key_id = x\naws_secret_access_key = y\n[tests]\n${KEYS}`,
    );
    await roundTrip({ ...env, AWS_PROFILE: "tests" });
  });

  test("is opened with the keys that a container gets", async () => {
    const Expiration = new Date(Date.now() + 3_600_000).toISOString();
    const server = createServer((_, response) =>
      response.end(JSON.stringify({ AccessKeyId: "CONTAINER", SecretAccessKey: "x", Token: "token", Expiration })),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/credentials`;
    vi.stubEnv("AWS_CONTAINER_CREDENTIALS_FULL_URI", url);
    const env = await withFiles("", "");
    const store = await openObjects("s3://market", { env: { ...env, AWS_ENDPOINT_URL: bucket.proxy.url } });
    // The server of the tests knows no session tokens.
    await expect(store.get("a")).rejects.toThrow("the session token for s3://market is not valid");
    expect(bucket.proxy.requests[0]!.headers).toMatchObject({
      "x-amz-security-token": "token",
      authorization: expect.stringContaining("Credential=CONTAINER/") as string,
    });
    server.close();
  });

  test("is told what is missing if there are no credentials at all", async () => {
    vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
    const env = await withFiles("", "");
    const store = await openObjects("s3://market", { env: { ...env, AWS_ENDPOINT_URL: bucket.proxy.url } });
    await expect(store.get("a")).rejects.toThrow(
      /^no credentials for S3 \(.+\): set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE/,
    );
    expect(bucket.proxy.requests).toEqual([]);
  });

  test("is told which profile is missing", async () => {
    const error = await openError("s3://market", { ...(await withFiles("", "")), AWS_PROFILE: "absent" });
    expect(error.message).toBe("AWS_PROFILE is absent, but neither ~/.aws/config nor ~/.aws/credentials has it");
  });

  test("does not show the command that should print credentials", async () => {
    const env = await withFiles(`[default]\ncredential_process = false --secret ${SECRET_KEY}\n`, "");
    const store = await openObjects("s3://market", { env: { ...env, AWS_ENDPOINT_URL: bucket.proxy.url } });
    const error = await store.get("a").catch((caught: unknown) => caught);
    expect(inspect(error, { depth: 10 })).toContain("no credentials for S3");
    expect(inspect(error, { depth: 10 })).not.toContain(SECRET_KEY);
  });

  test("gets the session token, and never shows it or the key", async () => {
    const token = "session-token-not-to-be-shown";
    const env = { ...bucket.env, AWS_SESSION_TOKEN: token };
    const store = await openObjects("s3://market/x", { env, patience: 100 });
    await expect(store.get("a")).rejects.toThrow("the session token for s3://market/x is not valid");
    expect(bucket.proxy.requests[0]!.headers["x-amz-security-token"]).toBe(token);
    const told = [inspect(store, { depth: 10, showHidden: true })];
    for (const fault of [{ status: 403 }, { status: 503 }, { isLost: true }, { status: 200, body: "x" }]) {
      bucket.proxy.fault = () => fault;
      const error = await store.get("a").catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(OperatorError);
      told.push(inspect(error, { depth: 10, showHidden: true }), JSON.stringify(error));
    }
    bucket.proxy.fault = () => undefined;
    for (const text of told) for (const secret of [token, SECRET_KEY]) expect(text).not.toContain(secret);
  });

  test("is part of the path, or of the host name if that is asked for", async () => {
    await (await openObjects("s3://market/x", { env: bucket.env })).get("a");
    expect(bucket.proxy.requests[0]!.path).toBe("/market/x/a");
    const endpoint = bucket.proxy.url.replace("127.0.0.1", "localhost");
    const config = "[default]\ns3 =\n  addressing_style = virtual\n";
    for (const asks of [{ AWS_VIRTUAL_HOSTED_STYLE_REQUEST: "true" }, await withFiles(config, "")]) {
      const env = { ...bucket.env, ...asks, AWS_ENDPOINT_URL: endpoint };
      const store = await openObjects("s3://market/x", { env, patience: 100 });
      await expect(store.get("a")).rejects.toThrow(endpoint.replace("localhost", "market.localhost"));
    }
  });
});

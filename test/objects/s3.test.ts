// A bucket whose server is slow, busy, away or broken: nothing is lost, taken for whole or reported wrongly.
import { randomBytes } from "node:crypto";
import { readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { OperatorError } from "../../src/errors.js";
import { UnreachableError } from "../../src/objects/errors.js";
import { fetchObject } from "../../src/objects/fetch.js";
import type { ObjectStore } from "../../src/objects/object-store.js";
import { openObjects } from "../../src/objects/open.js";
import type { Fault, Seen } from "../support/bucket-proxy.js";
import { collect } from "../support/collect.js";
import { temporaryFolder } from "../support/folders.js";
import { size as sizeOf } from "../support/size.js";
import { hasVersitygw, startBucket, type TestBucket } from "../support/versitygw.js";

const text = (value: string): Buffer => Buffer.from(value);

let bucket: TestBucket;
let store: ObjectStore;
let prefixes = 0;

/** A fault of the first requests of a method. */
const first = (count: number, method: string, fault: Fault): ((seen: Seen) => Fault | undefined) => {
  let seenSoFar = 0;
  return (seen) => (seen.method === method && seenSoFar++ < count ? fault : undefined);
};

const open = (limits: { patience?: number; stall?: number } = {}, env: NodeJS.ProcessEnv = {}): Promise<ObjectStore> =>
  openObjects(`s3://${bucket.name}/faults/${prefixes}`, { env: { ...bucket.env, ...env }, ...limits });

const methods = (): string[] => bucket.proxy.requests.map(({ method }) => method);

const errorOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => expect.unreachable("it succeeded"),
    (error: unknown) => error as Error,
  );

/** An error document of S3. */
const xml = (code: string, more = ""): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>It said\nso</Message>${more}</Error>`;

describe.skipIf(!hasVersitygw)("a bucket", () => {
  beforeAll(async () => {
    bucket = await startBucket();
  });

  beforeEach(async () => {
    prefixes++;
    bucket.proxy.fault = () => undefined;
    store = await open();
    bucket.proxy.requests.length = 0;
  });

  test("needs one request for each small operation", async () => {
    const tag = await store.put("a", text("1"));
    await store.get("a");
    await store.get("a", { unless: tag });
    await store.get("none");
    await store.create("b", text("2"));
    await store.create("b", text("2"));
    await store.replaceIf("a", text("3"), tag);
    await collect(store.list(""));
    await store.remove(["a", "b"]);
    expect(methods()).toEqual(["PUT", "GET", "GET", "GET", "PUT", "PUT", "PUT", "GET", "POST"]);
  });

  test.each([500, 502, 503, 504, 429])("is asked again after status %i", async (status) => {
    await store.put("a", text("1"));
    bucket.proxy.fault = first(2, "GET", { status, body: xml("SlowDown") });
    expect((await store.get("a"))!.bytes).toEqual(text("1"));
    expect(methods()).toEqual(["PUT", "GET", "GET", "GET"]);
  });

  test.each(["ConditionalRequestConflict", "OperationAborted"])("is asked again after %s", async (code) => {
    bucket.proxy.fault = first(1, "PUT", { status: 409, body: xml(code) });
    expect(await store.create("a", text("1"))).toBeDefined();
    expect(methods()).toEqual(["PUT", "PUT"]);
  });

  test("never yields a response that was cut short", async () => {
    const bytes = randomBytes(300_000);
    await store.put("a", bytes);
    for (const cutAfter of [0, 1, 299_999]) {
      bucket.proxy.fault = first(1, "GET", { cutAfter });
      expect((await store.get("a"))!.bytes.equals(bytes)).toBe(true);
      bucket.proxy.fault = () => ({ cutAfter });
      const impatient = await open({ patience: 200 });
      await expect(impatient.get("a")).rejects.toThrow(UnreachableError);
      await expect(impatient.get("a", { range: [0, 300_000] })).rejects.toThrow(UnreachableError);
    }
  });

  test("never yields a list that was cut short", async () => {
    for (const key of ["a", "b", "c"]) await store.put(key, text("1"));
    bucket.proxy.fault = first(1, "GET", { cutAfter: 300 });
    expect((await collect(store.list(""))).map(({ key }) => key)).toEqual(["a", "b", "c"]);
  });

  test("has created an object even if the response was lost", async () => {
    bucket.proxy.fault = first(1, "PUT", { isLost: true });
    const tag = await store.create("a", text("mine"));
    expect(await store.get("a")).toMatchObject({ bytes: text("mine"), tag });
    expect(methods()).toEqual(["PUT", "PUT", "GET", "GET"]);
  });

  test("has not created an object that another created while the response was lost", async () => {
    const other = await open();
    let [attempts, theirs] = [0, undefined as string | undefined];
    bucket.proxy.fault = async ({ method }) => {
      if (method !== "PUT" || attempts++ > 0) return undefined;
      theirs = await other.create("a", text("theirs"));
      return { isLost: true };
    };
    expect(await store.create("a", text("mine"))).toBeUndefined();
    expect(theirs).toBeDefined();
    expect((await store.get("a"))!.bytes).toEqual(text("theirs"));
  });

  test("has replaced an object even if the response was lost", async () => {
    const tag = await store.put("a", text("1"));
    bucket.proxy.fault = first(1, "PUT", { isLost: true });
    const next = await store.replaceIf("a", text("2"), tag);
    expect(await store.get("a")).toMatchObject({ bytes: text("2"), tag: next });
  });

  test("says that it does not know whether it replaced an object that was written again", async () => {
    const tag = await store.put("a", text("1"));
    const other = await open();
    let attempts = 0;
    bucket.proxy.fault = async ({ method }) => {
      if (method !== "PUT") return undefined;
      attempts++;
      // Another writer comes between the lost response and the second attempt.
      if (attempts === 2) await other.put("a", text("theirs"));
      return attempts === 1 ? { isLost: true } : undefined;
    };
    const error = await errorOf(store.replaceIf("a", text("2"), tag));
    expect(error).toBeInstanceOf(UnreachableError);
    expect(error.message).toMatch(/^it is not known whether s3:\/\/market\/faults\/\d+\/a was replaced: /);
  });

  test("refuses uploads that were damaged on their way, so they are sent again", async () => {
    const bytes = randomBytes(100_000);
    bucket.proxy.fault = first(1, "PUT", { damages: true });
    await store.put("a", bytes);
    expect((await store.get("a"))!.bytes.equals(bytes)).toBe(true);
    const path = join(await temporaryFolder(), "file");
    const large = randomBytes(3_000_000);
    await writeFile(path, large);
    bucket.proxy.fault = first(1, "PUT", { damages: true });
    await store.put("b", { path });
    expect((await store.get("b"))!.bytes.equals(large)).toBe(true);
    expect(methods()).toEqual(["PUT", "PUT", "GET", "PUT", "PUT", "GET"]);
  });

  test("is not waited for once nothing moves, but as long as something does", async () => {
    const impatient = await open({ patience: 100, stall: 500 });
    bucket.proxy.fault = () => ({ hangs: true });
    await expect(impatient.get("a")).rejects.toThrow(
      `the bucket market does not answer (no progress in 0.5 s): is ${bucket.proxy.url} up and reachable?`,
    );
    const bytes = randomBytes(1_000_000);
    bucket.proxy.fault = () => undefined;
    await store.put("a", bytes);
    bucket.proxy.fault = () => ({ bandwidth: 150_000 });
    const patient = await open({ patience: 100, stall: 4_000 });
    expect((await patient.get("a"))!.bytes.equals(bytes)).toBe(true);
  });

  test("is unreachable while it is away, and used again when it is back", async () => {
    await store.put("a", text("1"));
    await bucket.proxy.leave();
    const impatient = await open({ patience: 300 });
    await expect(impatient.get("a")).rejects.toThrow(
      `the bucket market does not answer (connection refused): is ${bucket.proxy.url} up and reachable?`,
    );
    const reading = store.get("a");
    await bucket.proxy.comeBack();
    expect((await reading)!.bytes).toEqual(text("1"));
    expect((await impatient.get("a"))!.bytes).toEqual(text("1"));
  });

  test("is asked whether it takes a large upload before that is sent", async () => {
    bucket.proxy.fault = () => ({ status: 403, body: xml("AccessDenied") });
    await expect(store.put("a", randomBytes(30_000_000))).rejects.toThrow("the permission s3:PutObject");
    expect(methods()).toEqual(["PUT"]);
    expect(bucket.proxy.requests[0]!.headers.expect).toBe("100-continue");
    bucket.proxy.fault = () => undefined;
    const wrong = await open({}, { AWS_SECRET_ACCESS_KEY: "wrong" });
    await expect(wrong.put("a", randomBytes(30_000_000))).rejects.toThrow("check AWS_SECRET_ACCESS_KEY");
  });

  test("gets no file that is larger than it may have, and none of it is sent", async () => {
    const path = join(await temporaryFolder(), "file");
    await writeFile(path, "");
    await truncate(path, 5 * 2 ** 30 + 1);
    await expect(store.put("a", { path })).rejects.toThrow("an object of a bucket may have at most 5 GiB");
    expect(methods()).toEqual([]);
  });

  test("gets the parts of large objects over a bounded number of connections", async () => {
    const size = sizeOf("LARGE_OBJECT", 56 << 20, 80 << 20);
    const keys = ["a", "b", "c", "d"];
    const path = join(await temporaryFolder(), "file");
    await writeFile(path, randomBytes(size));
    for (const key of keys) await store.put(key, { path });
    bucket.proxy.requests.length = 0;
    const expected = await readFile(path);
    const read = async (key: string): Promise<void> => {
      let at = 0;
      for await (const piece of fetchObject(store, key, [0, size])) {
        expect(piece.equals(expected.subarray(at, at + piece.length))).toBe(true);
        at += piece.length;
      }
      expect(at).toBe(size);
    };
    await Promise.all(keys.map(read));
    expect(methods()).toHaveLength((keys.length * size) / (8 << 20));
    expect(bucket.proxy.mostConnections()).toBeLessThanOrEqual(20);
  });

  test("notices that a large object is replaced while it is read", async () => {
    const size = 80 << 20;
    const path = join(await temporaryFolder(), "file");
    await writeFile(path, randomBytes(size));
    await store.put("a", { path });
    const read = async (): Promise<void> => {
      const pieces = fetchObject(store, "a", [0, size]);
      await pieces.next();
      await store.put("a", randomBytes(size));
      await collect(pieces);
    };
    await expect(read()).rejects.toThrow(/a was replaced while it was read$/);
  });

  const REFUSALS: readonly (readonly [status: number, body: string, message: RegExp])[] = [
    [403, xml("AccessDenied"), /refuses to read a: the credentials need the permission s3:GetObject$/],
    [404, xml("NoSuchBucket"), /^the bucket market does not exist at http.*: create it, or correct the address$/],
    [404, "<html>not here</html>", /refuses to read a: status 404; is http.* an S3 server\?$/],
    [403, xml("InvalidAccessKeyId"), /does not know the access key: check AWS_ACCESS_KEY_ID, or AWS_PROFILE$/],
    [400, xml("ExpiredToken"), /^the credentials for s3.* have expired: set new ones/],
    [403, xml("RequestTimeTooSkewed"), /^the clock of this machine differs .*: correct the clock$/],
    [
      301,
      xml("PermanentRedirect", "<Region>eu-west-3</Region>"),
      /not in the region us-east-1 .*: set AWS_REGION=eu-west-3$/,
    ],
    [400, xml("AuthorizationHeaderMalformed"), /: set AWS_REGION to the region of the bucket$/],
    [400, xml("Strange"), /refuses to read a: status 400 Strange: It said\\nso$/],
    [200, "<html>welcome</html>", /^s3.* answered without an ETag for a: it is not an S3 server$/],
  ];
  test.each(REFUSALS)("that refuses with %i %j says what to do", async (status, body, message) => {
    bucket.proxy.fault = () => ({ status, body });
    const error = await errorOf(store.get("a"));
    expect(error).toBeInstanceOf(OperatorError);
    expect(error).not.toBeInstanceOf(UnreachableError);
    expect(error.message).toMatch(message);
    expect(methods()).toEqual(["GET"]);
  });

  test("refuses wrong keys and missing buckets as the server says it", async () => {
    const unknown = await open({}, { AWS_ACCESS_KEY_ID: "unknown" });
    await expect(unknown.get("a")).rejects.toThrow("does not know the access key: check AWS_ACCESS_KEY_ID");
    const elsewhere = await open({}, { AWS_REGION: "eu-west-1" });
    await expect(elsewhere.get("a")).rejects.toThrow(/not in the region eu-west-1/);
    const missing = await openObjects("s3://missing", { env: bucket.env });
    await expect(missing.get("a")).rejects.toThrow("the bucket missing does not exist");
    await expect(missing.put("a", text("1"))).rejects.toThrow("the bucket missing does not exist");
    await expect(missing.list("")[Symbol.asyncIterator]().next()).rejects.toThrow("the bucket missing does not exist");
  });

  test("is not spoken to in TLS if it does not speak it", async () => {
    const secure = await open({}, { AWS_ENDPOINT_URL: bucket.proxy.url.replace("http:", "https:") });
    await expect(secure.get("a")).rejects.toThrow("it does not speak TLS; use http:// if that is intended");
  });
});

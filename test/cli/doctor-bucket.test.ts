// What the doctor finds of a lake in a bucket. Each fault is real.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Finding } from "../../src/cli/doctor/finding.js";
import { run } from "../../src/cli/program.js";
import { createToken } from "../../src/store/tokens.js";
import { temporaryFolder } from "../support/folders.js";
import { bucketProxy, newAddress, newMirror, STORES } from "../support/mirrors.js";
import { dropFactors } from "../support/upkeep.js";
import { SECRET_KEY, withoutConditions } from "../support/versitygw.js";

let address: string;
let mirror: string;
let out = "";

/** The findings that are not ok, and the exit code. */
async function complaints(...options: readonly string[]): Promise<{ code: number; found: readonly Finding[] }> {
  out = "";
  const temp = await temporaryFolder();
  const given = ["--data", address, "--mirror", mirror, "--temp", temp, "--port", "0", ...options];
  const code = await run(["doctor", "--json", ...given]);
  const findings = JSON.parse(out) as Finding[];
  expect(out).not.toContain(SECRET_KEY);
  // These depend on the machine.
  const ignored = ["room", "file system", "temp", "memory"];
  return { code, found: findings.filter(({ state, thing }) => state !== "ok" && !ignored.includes(thing)) };
}

describe.skipIf(!STORES.includes("bucket"))("of a lake in a bucket the doctor", () => {
  beforeEach(async () => {
    address = await newAddress("bucket");
    bucketProxy().fault = () => undefined;
    mirror = await newMirror(address);
    await dropFactors(mirror, ["000001.SZ,20240102,1"]);
    await createToken(mirror, "alice", { entities: null, expires: null }, new Date());
    vi.spyOn(process.stdout, "write").mockImplementation((text) => ((out += String(text)), true));
    vi.spyOn(process.stderr, "write").mockImplementation(() => true);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });

  test("finds nothing if there are no faults, and counts the process that follows it", async () => {
    vi.stubEnv("TAPEHOUSE_WORKERS", "1");
    expect(await complaints()).toEqual({ code: 0, found: [] });
    const findings = JSON.parse(out) as Finding[];
    expect(findings.filter(({ thing }) => ["bucket", "bucket rights", "conditions"].includes(thing))).toHaveLength(3);
    expect(findings).toContainEqual(
      expect.objectContaining({
        found: expect.stringMatching(/for 1 worker and the inbox and the bucket and SQL, of /),
      }),
    );
  });

  test("names the bucket in commands", async () => {
    address = await newAddress("bucket");
    mirror = join(await temporaryFolder(), "empty");
    const { found } = await complaints();
    expect(found).toMatchObject([{ thing: "tokens", way: `tapehouse token create first --data ${address}` }]);
  });

  test("finds a server that is away, a bucket that does not exist, and keys that are wrong", async () => {
    const sound = address;
    const expectWrong = async (found: RegExp): Promise<void> =>
      expect(await complaints()).toMatchObject({
        code: 1,
        found: [{ state: "wrong", thing: "bucket", found: expect.stringMatching(found) }],
      });
    address = "s3://no-such-bucket/lake";
    await expectWrong(/bucket no-such-bucket does not exist at http/);
    address = sound;
    vi.stubEnv("AWS_ACCESS_KEY_ID", "unknown");
    await expectWrong(/does not know the access key: check AWS_ACCESS_KEY_ID/);
    vi.stubEnv("AWS_ACCESS_KEY_ID", "");
    await expectWrong(/AWS_SECRET_ACCESS_KEY is set without AWS_ACCESS_KEY_ID/);
    vi.unstubAllEnvs();
    vi.stubEnv("AWS_ENDPOINT_URL", "http://127.0.0.1:9");
    await expectWrong(/does not answer \(connection refused\): is http:\/\/127.0.0.1:9 up and reachable\?/);
    vi.stubEnv("AWS_ENDPOINT_URL", "nowhere");
    await expectWrong(/the endpoint of S3 .* is nowhere: expected an address/);
  });

  test("finds credentials that may not list, write or remove", async () => {
    const refuse = (isRefused: (method: string, path: string) => boolean): void => {
      const body = '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>';
      bucketProxy().fault = ({ method, path }) => (isRefused(method, path) ? { status: 403, body } : undefined);
    };
    refuse((_, path) => path.includes("list-type"));
    expect(await complaints()).toMatchObject({
      code: 1,
      found: [{ state: "wrong", thing: "bucket", found: expect.stringContaining("permission s3:ListBucket") }],
    });
    for (const [method, permission] of [
      ["PUT", "s3:PutObject"],
      ["POST", "s3:DeleteObject"],
    ]) {
      refuse((used) => used === method);
      expect(await complaints()).toMatchObject({
        code: 0,
        found: [
          {
            ...{ state: "warning", thing: "bucket rights", found: expect.stringContaining(`permission ${permission}`) },
            way: `tapehouse serve --no-watch --data ${address}`,
          },
        ],
      });
    }
    vi.stubEnv("TAPEHOUSE_WATCH", "off");
    expect(await complaints()).toEqual({ code: 0, found: [] });
  });

  test("finds a server that ignores conditional writes", async () => {
    bucketProxy().fault = withoutConditions;
    expect(await complaints()).toMatchObject({
      code: 1,
      found: [{ state: "wrong", thing: "conditions", found: expect.stringContaining("ignores the condition") }],
    });
  });

  test("finds a folder that cannot be the mirror", async () => {
    mirror = await newMirror(await newAddress("bucket"));
    expect(await complaints()).toMatchObject({
      code: 1,
      found: [
        { state: "wrong", thing: "mirror", found: expect.stringContaining("choose another folder with --mirror") },
      ],
    });
  });
});

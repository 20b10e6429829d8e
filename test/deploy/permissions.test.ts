// deploy/s3: what each policy allows is enough, and no more than is used.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sign } from "aws4";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { openLake } from "../../src/lake/lake.js";
import { layoutOf } from "../../src/lake/layout.js";
import { openObjects } from "../../src/objects/open.js";
import { followLedger } from "../../src/store/ledger-file.js";
import { createToken } from "../../src/store/tokens.js";
import { vacuum } from "../../src/store/vacuum.js";
import { mirrorAt, newMirror, pull } from "../support/mirrors.js";
import { dropFactors, servedRows } from "../support/upkeep.js";
import {
  ACCESS_KEY,
  createUser,
  hasVersitygw,
  SECRET_KEY,
  startBucket,
  type TestBucket,
} from "../support/versitygw.js";

const ADDRESS = "s3://market/lake";
const USERS = ["writer", "replica", "uploader"] as const;
type User = (typeof USERS)[number];

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: string;
}

const policyOf = (user: User): { readonly Statement: readonly Statement[] } =>
  JSON.parse(readFileSync(join(import.meta.dirname, `../../deploy/s3/${user}-policy.json`), "utf8")) as {
    readonly Statement: readonly Statement[];
  };

const before = { ...process.env };
let bucket: TestBucket;
let variables: Readonly<Record<User, NodeJS.ProcessEnv>>;

/** The permission that a request needs. */
function permissionFor(method: string, path: string): string {
  if (method === "POST") return "s3:DeleteObject";
  if (method === "PUT") return "s3:PutObject";
  return path.includes("list-type=2") ? "s3:ListBucket" : "s3:GetObject";
}

/** Permissions that were used since the last call. */
const used = (): readonly string[] =>
  [...new Set(bucket.proxy.requests.splice(0).map(({ method, path }) => permissionFor(method, path)))].sort();

const actAs = (user: User): void => void Object.assign(process.env, variables[user]);

describe.skipIf(!hasVersitygw)("the policies of deploy/s3", () => {
  beforeAll(async () => {
    bucket = await startBucket();
    const made = await Promise.all(USERS.map(async (user) => [user, await createUser(bucket, user)] as const));
    variables = Object.fromEntries(made) as typeof variables;
    const statements = USERS.flatMap((user) =>
      policyOf(user).Statement.map((one) => ({ ...one, Sid: undefined, Principal: { AWS: [user] } })),
    );
    const body = JSON.stringify({ Version: "2012-10-17", Statement: statements });
    const { host } = new URL(bucket.proxy.url);
    const [method, path] = ["PUT", "/market?policy"];
    const keys = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };
    const signed = sign({ host, path, method, body, service: "s3", region: "us-east-1" }, keys);
    const headers = signed.headers as Record<string, string>;
    const answer = await fetch(`${bucket.proxy.url}${path}`, { method, body, headers });
    expect([answer.ok, await answer.text()]).toEqual([true, ""]);
  });
  afterEach(() => {
    for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) delete process.env[name];
    Object.assign(process.env, before);
  });

  test("a writer can import, keep tokens and clean up, which needs all that its policy allows", async () => {
    actAs("writer");
    bucket.proxy.requests.splice(0);
    const root = await newMirror(ADDRESS);
    await dropFactors(root, ["000001.SZ,20240102,1.5"]);
    await createToken(root, "alice", { entities: null, expires: null }, new Date());
    await vacuum(root, { olderThan: 0, keep: 1, now: new Date(), dryRun: false, trustClock: true });
    await (await mirrorAt(root)).objects.remove(["state/clock"]);
    expect(used()).toEqual(
      policyOf("writer")
        .Statement.flatMap(({ Action }) => Action)
        .sort(),
    );
  });

  test("a replica can serve, which needs all that its policy allows, and can change nothing", async () => {
    actAs("writer");
    await dropFactors(await newMirror(ADDRESS), ["000002.SZ,20240102,1.5"]);
    bucket.proxy.requests.splice(0);
    actAs("replica");
    const root = await newMirror(ADDRESS);
    const layout = layoutOf(root);
    await pull(root);
    await (await mirrorAt(root)).pull.files(layout.tokens, layout.gaps);
    await followLedger(layout);
    expect((await servedRows(root)).length).toBeGreaterThan(0);
    expect(used()).toEqual(
      policyOf("replica")
        .Statement.flatMap(({ Action }) => Action)
        .sort(),
    );

    const version = (await openLake(root)).current().version;
    await expect(dropFactors(root, ["000003.SZ,20240102,1.5"])).rejects.toThrow(/permission s3:PutObject/);
    expect((await openLake(root)).current().version).toEqual(version);
    await expect((await mirrorAt(root)).objects.remove(["state/lake.json"])).rejects.toThrow(/s3:DeleteObject|Access/);
  });

  test("an uploader can put files into the inbox, and nothing else", async () => {
    const objects = await openObjects(ADDRESS, { env: variables.uploader });
    await objects.put("inbox/daily/20240102.csv", Buffer.from("ts_code,trade_date\n"));
    await expect(objects.put("state/tokens.json", Buffer.from("{}"))).rejects.toThrow(/permission s3:PutObject/);
    await expect(objects.get("state/tokens.json")).rejects.toThrow(/permission s3:GetObject/);
  });
});

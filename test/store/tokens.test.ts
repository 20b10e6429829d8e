import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { TRUSTED_FOR, type TokenStore, hashToken, openTokens, parseTokens } from "../../src/lake/tokens.js";
import { createSeriesToken, createToken, revokeToken } from "../../src/store/tokens.js";
import { filesOf, newLake } from "../support/lakes.js";

const NOW = new Date("2026-01-05T00:00:00Z");
const HASH = hashToken("secret");
const GOOD = { name: "alice", sha256: HASH, entities: null, expires: null, created: "2026-01-01T00:00:00.000Z" };

describe("a record of the token file", () => {
  test.each<[string, object]>([
    ["as it is written", {}],
    ["with entities, an end and another zone", { entities: ["daily", "metrics"], expires: "2026-02-01T08:00+08:00" }],
    ["without any entity", { entities: [] }],
  ])("%s is valid", (_what, change) => {
    expect(parseTokens([{ ...GOOD, ...change }])).toEqual({ tokens: [{ ...GOOD, ...change }], faults: [] });
  });

  const without = (field: keyof typeof GOOD): object =>
    Object.fromEntries(Object.entries(GOOD).filter(([name]) => name !== field));

  test.each<[string, unknown, RegExp]>([
    ["garbage for an end", { ...GOOD, expires: "garbage" }, /^record 1 \(alice\) .* malformed expires/],
    ["an end without a zone", { ...GOOD, expires: "2026-02-01T00:00:00" }, /malformed expires/],
    ["a day for an end", { ...GOOD, expires: "2026-02-01" }, /malformed expires/],
    ["an end on no day", { ...GOOD, expires: "2026-02-30T00:00:00Z" }, /malformed expires/],
    ["an end at no time", { ...GOOD, expires: "2026-02-01T25:00:00Z" }, /malformed expires/],
    ["a number for an end", { ...GOOD, expires: 1_800_000_000 }, /malformed expires/],
    ["an empty end", { ...GOOD, expires: "" }, /malformed expires/],
    ["no end", without("expires"), /lacks expires/],
    ["text for entities", { ...GOOD, entities: "daily weekly" }, /malformed entities/],
    ["an object for entities", { ...GOOD, entities: { daily: true } }, /malformed entities/],
    ["null among entities", { ...GOOD, entities: ["daily", null] }, /malformed entities/],
    ["an empty entity", { ...GOOD, entities: [""] }, /malformed entities/],
    ["no entities", without("entities"), /lacks entities/],
    ["a short hash", { ...GOOD, sha256: HASH.slice(1) }, /malformed sha256/],
    ["a hash in capitals", { ...GOOD, sha256: HASH.toUpperCase() }, /malformed sha256/],
    ["a hash and a line end", { ...GOOD, sha256: `${HASH}\n` }, /malformed sha256/],
    ["the token in the place of the hash", { ...GOOD, sha256: "secret" }, /malformed sha256/],
    ["no name", without("name"), /^record 1 of the token file .* lacks name/],
    ["a name of two lines", { ...GOOD, name: "a\nb" }, /^record 1 \("a\\nb"\) .* malformed name/],
    ["no time of its making", without("created"), /lacks created/],
    ["an unknown field, which may restrict it", { ...GOOD, addresses: ["10.0.0.1"] }, /unknown field addresses/],
    ["a prototype", JSON.parse(`{"__proto__":{"expires":null},${JSON.stringify(GOOD).slice(1)}`), /__proto__/],
    ["nothing", null, /is not an object/],
    ["a list", [GOOD], /is not an object/],
    ["text", "alice", /is not an object/],
  ])("with %s is not valid, and the reason is given", (_what, record, fault) => {
    const { tokens, faults } = parseTokens([record, { ...GOOD, name: "bob", sha256: hashToken("other") }]);
    expect(tokens.map(({ name }) => name)).toEqual(["bob"]);
    expect(faults).toEqual([expect.stringMatching(fault)]);
  });

  test("that shares its hash with another is not valid, and neither is the other", () => {
    const { tokens, faults } = parseTokens([GOOD, { ...GOOD, name: "bob", entities: ["daily"] }]);
    expect(tokens).toEqual([]);
    expect(faults).toHaveLength(2);
  });

  test("may name an unknown entity, which grants nothing and is reported", () => {
    const { tokens, faults } = parseTokens([{ ...GOOD, entities: ["daily", "minutes"] }]);
    expect(tokens).toHaveLength(1);
    expect(faults).toEqual(["record 1 (alice) of the token file names minutes: there is no such entity"]);
  });
});

let root: string;
let path: string;
let faults: string[];
let clock: number;

beforeEach(async () => {
  root = await newLake();
  path = join(root, "state/tokens.json");
  faults = [];
  clock = 0;
});

const open = (): Promise<TokenStore> =>
  openTokens(path, { staticToken: "static", onFault: (fault) => faults.push(fault), clock: () => clock });

const create = (name: string, expires: string | null = null): Promise<string> =>
  createToken(root, name, { entities: null, expires }, NOW);

describe("a token file", () => {
  test("that never existed holds no tokens", async () => {
    const tokens = await open();
    await tokens.refresh();
    clock = 2 * TRUSTED_FOR;
    await tokens.refresh();
    expect([tokens.isSound(), await tokens.find("secret", NOW)]).toEqual([true, null]);
    const made = await create("alice");
    expect(await tokens.find(made, NOW)).toMatchObject({ name: "alice" });
  });

  test.each<[string, () => Promise<unknown>]>([
    ["is cut short", async () => writeFile(path, (await readFile(path, "utf8")).slice(0, 50))],
    ["is emptied", () => writeFile(path, "")],
    ["holds no list", () => writeFile(path, '{"name": "alice"}')],
    ["is gone", () => rm(path)],
    ["is gone with the data directory", () => rm(root, { recursive: true })],
  ])("that %s keeps its tokens valid for a limited time; the static token stays valid", async (_what, damage) => {
    const alice = await create("alice");
    const guest = await create("guest", "1h");
    const tokens = await open();
    await damage();
    await expect(tokens.refresh()).rejects.toThrow(path);
    expect(tokens.isSound()).toBe(false);
    clock = TRUSTED_FOR;
    await tokens.refresh().catch(() => undefined);
    expect(await tokens.find(alice, NOW)).toMatchObject({ name: "alice" });
    expect(await tokens.find(guest, new Date(NOW.getTime() + 3_600_000))).toBeNull();
    expect(await tokens.find("wrong", NOW)).toBeNull();
    clock += 1;
    for (const secret of [alice, guest, "wrong"]) expect(await tokens.find(secret, NOW)).toBe("unknown");
    expect(await tokens.find("static", NOW)).toMatchObject({ name: "TAPEHOUSE_TOKEN" });
  });

  test("that is restored is followed again at once", async () => {
    const alice = await create("alice");
    const tokens = await open();
    const text = await readFile(path, "utf8");
    await writeFile(path, "[{");
    await expect(tokens.refresh()).rejects.toThrow("is damaged");
    clock = 2 * TRUSTED_FOR;
    expect(await tokens.find(alice, NOW)).toBe("unknown");
    await writeFile(path, text);
    await tokens.refresh();
    expect([tokens.isSound(), await tokens.find(alice, NOW)]).toMatchObject([true, { name: "alice" }]);
  });

  test("that is damaged from the start admits only the static token", async () => {
    const alice = await create("alice");
    await writeFile(path, "[{");
    const tokens = await open();
    expect([tokens.isSound(), await tokens.find(alice, NOW)]).toEqual([false, "unknown"]);
    expect(await tokens.find("static", NOW)).not.toBeNull();
  });

  test("with bad records has each of them reported once, and its other tokens are valid", async () => {
    const alice = await create("alice");
    const records = JSON.parse(await readFile(path, "utf8")) as object[];
    await writeFile(path, JSON.stringify([{ ...GOOD, expires: "garbage" }, ...records]));
    const tokens = await open();
    for (let i = 0; i < 3; i++) await tokens.refresh();
    const bob = await create("bob");
    await tokens.refresh();
    expect(faults).toEqual([expect.stringMatching(/^record 1 \(alice\) .* malformed expires/)]);
    expect(await tokens.find("secret", NOW)).toBeNull();
    expect(await tokens.find(alice, NOW)).toMatchObject({ name: "alice" });
    expect(await tokens.find(bob, NOW)).toMatchObject({ name: "bob" });
  });
});

describe("the commands", () => {
  /** The file that commands change. */
  let path: string;

  beforeEach(async () => {
    path = join(await filesOf(root), "state/tokens.json");
  });

  test("leave a damaged file as it is", async () => {
    await create("alice");
    for (const text of ["[{", "", '{"alice": 1}']) {
      await writeFile(path, text);
      await expect(create("bob")).rejects.toThrow("is damaged");
      await expect(revokeToken(root, "alice")).rejects.toThrow("is damaged");
      expect(await readFile(path, "utf8")).toBe(text);
    }
  });

  test("keep faulty records, and revoke them by name", async () => {
    await create("alice");
    const odd = [{ name: "odd", expires: "garbage" }, 7];
    await writeFile(path, JSON.stringify(odd));
    await create("bob");
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual([...odd, expect.objectContaining({ name: "bob" })]);
    await expect(create("odd")).rejects.toThrow('a token named "odd" exists already');
    await revokeToken(root, "odd");
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual([7, expect.objectContaining({ name: "bob" })]);
  });
});

describe("a series of tokens", () => {
  const DAY = 86_400_000;
  const inSeries = (days: number): Promise<string> =>
    createSeriesToken(root, "first-steps", { entities: null, expires: "30d" }, new Date(NOW.getTime() + days * DAY));
  const find = async (secrets: readonly string[], days: number): Promise<readonly boolean[]> => {
    const tokens = await open();
    const now = new Date(NOW.getTime() + days * DAY);
    return Promise.all(secrets.map(async (secret) => (await tokens.find(secret, now)) !== null));
  };

  test("keeps earlier tokens valid when another is created", async () => {
    const secrets = [await inSeries(0), await inSeries(1)];
    expect(await find(secrets, 1)).toEqual([true, true]);
  });

  test("loses tokens that have expired, and the oldest of too many, but no token of another name", async () => {
    await create("first");
    await inSeries(0);
    const secrets: string[] = [];
    for (let day = 31; day < 52; day++) secrets.push(await inSeries(day));
    const names = (JSON.parse(await readFile(path, "utf8")) as { name: string }[]).map(({ name }) => name);
    expect(names.filter((name) => name.startsWith("first-steps "))).toHaveLength(20);
    expect(names).toContain("first");
    expect(await find(secrets, 51)).toEqual(secrets.map((_, i) => i > 0));
  });
});

describe("wrong tokens at the same time", () => {
  test("share reads of the file, and each is answered by a read that began after it arrived", async () => {
    await create("alice");
    const tokens = await open();
    const wrong = Array.from({ length: 500 }, (_, i) => tokens.find(`wrong-${i}`, NOW));
    const secrets: string[] = [];
    for (let i = 0; i < 5; i++) {
      secrets.push(await create(`late-${i}`));
      expect(await tokens.find(secrets[i]!, NOW)).toMatchObject({ name: `late-${i}` });
    }
    expect(new Set(await Promise.all(wrong))).toEqual(new Set([null]));
  });
});

test("finding a token takes the same time for every token, and for none", async () => {
  const secrets = Array.from({ length: 4_000 }, (_, i) => `secret-${i}`);
  const records = secrets.map((secret, i) => ({ ...GOOD, name: `n${i}`, sha256: hashToken(secret) }));
  await mkdir(join(root, "state"), { recursive: true });
  await writeFile(path, JSON.stringify(records));
  const tokens = await open();
  const asked = { first: secrets[0]!, last: secrets.at(-1)!, none: "secret-none" };
  const times: Record<string, number[]> = { first: [], last: [], none: [] };
  for (let round = 0; round < 60; round++) {
    for (const [which, secret] of Object.entries(asked)) {
      const began = performance.now();
      await tokens.find(secret, NOW, false);
      times[which]!.push(performance.now() - began);
    }
  }
  const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;
  const [first, last, none] = [median(times["first"]!), median(times["last"]!), median(times["none"]!)];
  // A search that stops at the first match would be thousands of times faster there.
  for (const ratio of [first / last, none / last]) expect(Math.abs(Math.log2(ratio))).toBeLessThan(4);
});

// A bucket of S3, or of a compatible server, as a store of objects.
import { createHash, type Hash } from "node:crypto";
import { stat } from "node:fs/promises";
import { OperatorError } from "../errors.js";
import { piecesIn } from "../files.js";
import { size as sizeInWords } from "../words.js";
import { UnreachableError } from "./errors.js";
import { requireKey, requirePrefix, requireRange } from "./keys.js";
import type { Content, ObjectStore, StoredObject } from "./object-store.js";
import { openClient, type Body, type Limits, type S3Request } from "./s3-client.js";
import type { Answer } from "./s3-exchange.js";
import { codeOf } from "./s3-refusals.js";
import { readS3Settings } from "./s3-settings.js";
import { failedRemoval, parsePage, removalOf, tagOf } from "./s3-xml.js";

/** The largest object that one request may write. In bytes. */
const LARGEST = 5 * 2 ** 30;
/** Objects that one request may remove. */
const REMOVED_TOGETHER = 1_000;

/** Throws an OperatorError if the settings are malformed. Nothing is requested yet. */
export async function openS3(
  bucket: string,
  prefix: string,
  env: NodeJS.ProcessEnv,
  limits: Limits,
): Promise<ObjectStore> {
  const address = `s3://${bucket}${prefix === "" ? "" : `/${prefix}`}`;
  const client = openClient(address, bucket, await readS3Settings(bucket, env), limits);
  const before = prefix === "" ? "" : `${prefix}/`;
  const fullKey = (key: string): string => {
    requireKey(key);
    return before + key;
  };

  const get: ObjectStore["get"] = async (key, { range, unless, signal } = {}) => {
    if (range) requireRange(range);
    const headers = {
      ...(range ? { range: `bytes=${range[0]}-${range[1] - 1}` } : {}),
      ...(unless === undefined ? {} : { "if-none-match": `"${unless}"` }),
    };
    const request: S3Request = {
      ...{ method: "GET", key: fullKey(key), headers, signal },
      ...{ action: `read ${key}`, permission: "s3:GetObject" },
    };
    const { answer } = await client.send(request);
    if (answer.status === 304 && unless !== undefined) return null;
    if (isNone(answer)) return undefined;
    if (answer.status === 416) throw new OperatorError(tooShort(key, range));
    if (answer.status !== (range ? 206 : 200)) throw client.refuse(request, answer);
    if (range) requireWholeRange(key, range, answer);
    return objectOf(key, answer);
  };

  const tooShort = (key: string, range: readonly [number, number] | undefined): string =>
    `${address}/${key} is too short: bytes ${range?.join(" to ")} were requested`;

  /** Throws an OperatorError unless the response has the bytes that were requested. */
  const requireWholeRange = (key: string, range: readonly [number, number], { headers, body }: Answer): void => {
    const [, first] = /^bytes (\d+)-/.exec(headers["content-range"] ?? "") ?? [];
    if (first !== undefined && Number(first) === range[0] && body.length === range[1] - range[0]) return;
    throw new OperatorError(
      Number(first) === range[0] && body.length < range[1] - range[0]
        ? tooShort(key, range)
        : `${address} answered with other bytes of ${key} than were requested`,
    );
  };

  const objectOf = (key: string, answer: Answer): StoredObject => ({
    bytes: answer.body,
    tag: tagIn(key, answer),
    modified: new Date(answer.headers["last-modified"] ?? NaN),
  });

  const tagIn = (key: string, { headers }: Answer): string => {
    if (headers.etag !== undefined) return tagOf(headers.etag);
    throw new OperatorError(`${address} answered without an ETag for ${key}: it is not an S3 server`);
  };

  const writing = (key: string, body: Body, headers: Record<string, string>): S3Request => ({
    ...{ method: "PUT", key: fullKey(key), headers, body },
    ...{ action: `write ${key}`, permission: "s3:PutObject" },
  });

  /** Writes an object under a condition. `settle` decides if an earlier attempt may have been carried out. */
  const writeIf = async (
    key: string,
    content: Uint8Array,
    headers: Record<string, string>,
    settle: (found: StoredObject | undefined) => string | undefined,
  ): Promise<string | undefined> => {
    const request = writing(key, bodyOf(content), headers);
    const { answer, mayBeDone } = await client.send(request);
    if (answer.status === 200) return tagIn(key, answer);
    if (answer.status !== 412 && !isNone(answer)) throw client.refuse(request, answer);
    if (!mayBeDone) return undefined;
    const found = (await get(key)) ?? undefined;
    return found?.bytes.equals(content) ? found.tag : settle(found);
  };

  return {
    address,
    get,

    async put(key, content) {
      const request = writing(key, await bodyOfAny(content), {});
      const { answer } = await client.send(request);
      if (answer.status !== 200) throw client.refuse(request, answer);
      return tagIn(key, answer);
    },

    create: (key, content) => writeIf(key, content, { "if-none-match": "*" }, () => undefined),

    replaceIf: (key, content, tag) =>
      writeIf(key, content, { "if-match": `"${tag}"` }, (found) => {
        if (found?.tag === tag) return undefined;
        const problem = "the response was lost, and the object was written again since";
        throw new UnreachableError(`it is not known whether ${address}/${key} was replaced: ${problem}`);
      }),

    async *list(prefixOfKeys, after = "") {
      requirePrefix(prefixOfKeys);
      const request: S3Request = { method: "GET", action: "list objects", permission: "s3:ListBucket" };
      const query = {
        ...{ "list-type": "2", "encoding-type": "url", prefix: before + prefixOfKeys },
        ...(after === "" ? {} : { "start-after": before + after }),
      };
      for (let next: string | undefined = ""; next !== undefined;) {
        const token = next === "" ? {} : { "continuation-token": next };
        const { answer } = await client.send({ ...request, query: { ...query, ...token } });
        if (answer.status !== 200) throw client.refuse(request, answer);
        const page = parsePage(answer.body.toString());
        if (!page) throw new OperatorError(`${address} answered with something other than a list of objects`);
        for (const object of page.objects) yield { ...object, key: object.key.slice(before.length) };
        ({ next } = page);
      }
    },

    async remove(keys) {
      const all = keys.map(fullKey);
      for (let i = 0; i < all.length; i += REMOVED_TOGETHER) {
        const content = Buffer.from(removalOf(all.slice(i, i + REMOVED_TOGETHER)));
        const request: S3Request = {
          ...{ method: "POST", query: { delete: "" }, body: bodyOf(content) },
          headers: { "content-md5": createHash("md5").update(content).digest("base64") },
          ...{ action: "remove objects", permission: "s3:DeleteObject" },
        };
        const { answer } = await client.send(request);
        if (answer.status !== 200) throw client.refuse(request, answer);
        const failed = failedRemoval(answer.body.toString());
        if (failed !== undefined) throw new OperatorError(`${address} refuses to remove an object: ${failed}`);
      }
    },

    close() {
      // Idle connections are shared by all stores; they neither keep the process alive nor outlast their server.
    },
  };
}

/** Whether there is no such object. Another 404 may come from a server that is not one of S3. */
const isNone = (answer: Answer): boolean => answer.status === 404 && codeOf(answer) === "NoSuchKey";

const bodyOf = (content: Uint8Array): Body => ({ content, sha256: createHash("sha256").update(content).digest("hex") });

async function bodyOfAny(content: Content): Promise<Body> {
  if (content instanceof Uint8Array) return bodyOf(content);
  const { size: before } = await stat(content.path);
  if (before > LARGEST) {
    throw new OperatorError(
      `${content.path} has ${sizeInWords(before)}, but an object of a bucket may have at most 5 GiB: keep such files in a folder`,
    );
  }
  const hash: Hash = createHash("sha256");
  let size = 0;
  for await (const piece of piecesIn(content.path)) {
    hash.update(piece);
    size += piece.length;
  }
  return { content: { path: content.path, size }, sha256: hash.digest("hex") };
}

// S3 XML: lists of objects, errors, and requests to remove objects.
import { clip, printable } from "../words.js";
import type { ListedObject } from "./object-store.js";

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

const decodeEntities = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    return String.fromCodePoint(hex === undefined ? Number(decimal) : parseInt(hex, 16));
  });

/** The text of the first element of a name that holds only text. */
export function textOf(xml: string, name: string): string | undefined {
  const found = new RegExp(`<${name}(?:\\s[^>]*)?>([^<]*)</${name}>`).exec(xml);
  return found ? decodeEntities(found[1]!) : undefined;
}

const elementsOf = (xml: string, name: string): readonly string[] =>
  Array.from(xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, "gs")), ([, inner]) => inner!);

export interface Page {
  readonly objects: readonly ListedObject[];
  /** Where the next page begins; undefined on the last one. */
  readonly next: string | undefined;
}

/** A page of a list that was requested with `encoding-type=url`; null if the XML is something else. */
export function parsePage(xml: string): Page | null {
  if (!/<ListBucketResult[\s>]/.test(xml) || !xml.includes("</ListBucketResult>")) return null;
  const isEncoded = textOf(xml, "EncodingType") === "url";
  const objects = elementsOf(xml, "Contents").map((inner) => {
    const key = textOf(inner, "Key") ?? "";
    return {
      key: isEncoded ? decodeURIComponent(key.replaceAll("+", " ")) : key,
      size: Number(textOf(inner, "Size")),
      tag: tagOf(textOf(inner, "ETag") ?? ""),
      modified: new Date(textOf(inner, "LastModified") ?? ""),
    };
  });
  if (textOf(xml, "IsTruncated") !== "true") return { objects, next: undefined };
  const next = textOf(xml, "NextContinuationToken");
  return next === undefined ? null : { objects, next };
}

/** An ETag without its quotes. */
export const tagOf = (etag: string): string => etag.replace(/^"(.*)"$/, "$1");

const encodeEntities = (text: string): string => text.replace(/[<>&"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** The body of a request to remove objects. */
export function removalOf(keys: readonly string[]): string {
  const objects = keys.map((key) => `<Object><Key>${encodeEntities(key)}</Key></Object>`).join("");
  return `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${objects}</Delete>`;
}

/** Why the first object that was not removed is still there; undefined if all were removed. */
export function failedRemoval(xml: string): string | undefined {
  const [inner] = elementsOf(xml, "Error");
  if (inner === undefined) return undefined;
  return printable(clip(`${textOf(inner, "Code")} ${textOf(inner, "Message")}`, 200));
}

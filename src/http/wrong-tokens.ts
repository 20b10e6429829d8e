// Those who try tokens are slowed. Valid tokens always pass: behind one address may be a proxy, and all who use it.
import { Problem } from "../errors.js";
import { createBuckets } from "./buckets.js";

export interface WrongTokens {
  /** Whether an address has not tried too many of late. */
  mayTry(address: string | undefined): boolean;
  /** Counts a wrong token. Returns what its sender is told. */
  count(address: string | undefined): Problem;
}

/** Addresses that are told from one another. */
const ADDRESSES = 10_000;

/** `quota` is so many a minute from one address. */
export function createWrongTokens(quota: number, clock: () => number = () => performance.now()): WrongTokens {
  const buckets = createBuckets(quota, 60_000, ADDRESSES);
  return {
    mayTry: (address) => buckets.hasAny(networkOf(address), clock()),
    count(address) {
      const { allowed, retryAfter } = buckets.take(networkOf(address), clock());
      if (allowed) return new Problem("unauthorized", "the access token is not valid, was revoked or has expired");
      return new Problem("too_many_requests", "too many wrong access tokens came from this address", { retryAfter });
    },
  };
}

/** An IPv4 address, or the 64 bits of an IPv6 one that its owner does not choose. */
export function networkOf(address = ""): string {
  if (!address.includes(":") || address.includes(".")) return address;
  const [head, tail] = address.split("::").map((part) => part.split(":").filter(Boolean));
  const left = head ?? [];
  const right = tail ?? [];
  const zeros = Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0");
  return [...left, ...zeros, ...right].slice(0, 4).join(":");
}

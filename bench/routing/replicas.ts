// Replicas with mirrors that keep the files read last, and ways to choose one of them for a request.
import { createHash } from "node:crypto";
import { randomFrom, type File, type Request } from "./market.js";

/** Reads a file. Returns whether it was there. */
type Mirror = (file: File) => boolean;

/** Keeps up to `size` MB, the files that were read last. */
function createMirror(size: number): Mirror {
  const files = new Map<string, File>();
  let used = 0;
  return (file) => {
    const isHere = files.delete(file.name);
    files.set(file.name, file);
    if (isHere) return true;
    used += file.size;
    for (const [name, one] of files) {
      if (used <= size) break;
      files.delete(name);
      used -= one.size;
    }
    return false;
  };
}

/** The text by which a replica is chosen; null: any of them. */
export type Key = (request: Request) => string | null;

export const ROUTES = {
  random: () => null,
  "code or day": ({ entity, code, day }) => `${entity} ${code ?? day}`,
  "part of code or day": ({ entity, code, day }) => `${entity} ${code?.slice(0, 4) ?? day.slice(0, 6)}`,
} as const satisfies Readonly<Record<string, Key>>;

/** Points of each replica on the ring, as in nginx and Envoy. */
const POINTS = 160;

const hashOf = (text: string): number => createHash("sha256").update(text).digest().readUInt32BE();

/** The ring of consistent hashing. */
function ringOf(replicas: readonly number[]): (key: string) => number {
  const points = replicas
    .flatMap((replica) =>
      Array.from({ length: POINTS }, (_, i) => ({ replica, at: hashOf(`replica ${replica}, ${i}`) })),
    )
    .toSorted((a, b) => a.at - b.at);
  const known = new Map<string, number>();
  const find = (key: string): number => {
    const hash = hashOf(key);
    let [low, high] = [0, points.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (points[middle]!.at < hash) low = middle + 1;
      else high = middle;
    }
    return points[low % points.length]!.replica;
  };
  return (key) => {
    let replica = known.get(key);
    if (replica === undefined) known.set(key, (replica = find(key)));
    return replica;
  };
}

export interface Traffic {
  /** Of the files that were read, the share that was there. */
  readonly hits: number;
  /** MB fetched from the bucket for each request. */
  readonly fetched: number;
  /** Requests of the busiest replica, as a multiple of the mean. */
  readonly busiest: number;
}

export interface Fleet {
  /** Answers a number of requests. */
  answer(requests: () => Request, count: number): Traffic;
  /** Starts another replica, with an empty mirror. */
  add(): void;
  /** Ends a replica. */
  remove(): void;
}

export function createFleet(size: number, mirrorSize: number, route: Key): Fleet {
  const random = randomFrom(7);
  const mirrors = Array.from({ length: size }, () => createMirror(mirrorSize));
  let running = mirrors.map((_, i) => i);
  let ring = ringOf(running);
  const change = (replicas: readonly number[]): void => {
    running = [...replicas];
    ring = ringOf(running);
  };
  return {
    answer(requests, count) {
      const load = new Map<number, number>();
      let [reads, hits, fetched] = [0, 0, 0];
      for (let i = 0; i < count; i++) {
        const request = requests();
        const key = route(request);
        const replica = key === null ? running[Math.floor(random() * running.length)]! : ring(key);
        load.set(replica, (load.get(replica) ?? 0) + 1);
        for (const file of request.reads) {
          reads++;
          if (mirrors[replica]!(file)) hits++;
          else fetched += file.size;
        }
      }
      const busiest = (Math.max(...load.values()) * running.length) / count;
      return { hits: hits / reads, fetched: fetched / count, busiest };
    },
    add() {
      mirrors.push(createMirror(mirrorSize));
      change([...running, mirrors.length - 1]);
    },
    remove: () => change(running.slice(1)),
  };
}

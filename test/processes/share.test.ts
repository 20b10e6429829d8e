import { expect, test } from "vitest";
import { readConfig, shareOf } from "../../src/config.js";

test("workers share the limits of the whole server, and nothing else", () => {
  const config = readConfig({ workers: "3", encoders: "7", rateLimit: "100", memory: "2GB" }, {});
  const share = shareOf(config);
  const divided = [
    "encoders",
    "memory",
    "spill",
    "concurrency",
    "streams",
    "queue",
    "connections",
    "tokenStreams",
    "rateLimit",
    "sqlProcesses",
    "sqlMemory",
    "sqlSpill",
  ] as const;
  expect(Object.fromEntries(divided.map((name) => [name, share[name]]))).toEqual({
    ...{
      encoders: 2,
      memory: "666MB",
      spill: "3333MB",
      concurrency: 2,
      streams: 42,
      queue: 85,
      connections: 3333,
      tokenStreams: 21,
      rateLimit: 33,
      sqlProcesses: 2,
      sqlMemory: "333MB",
      sqlSpill: "3333MB",
    },
  });
  expect({ ...share, ...Object.fromEntries(divided.map((name) => [name, config[name]])) }).toEqual(config);
});

test("each worker gets at least one slot, and no limit if there is none", () => {
  const config = readConfig({ workers: "8", concurrency: "2", streams: "1", queue: "0", rateLimit: "none" }, {});
  expect(shareOf(config)).toMatchObject({ concurrency: 1, streams: 1, queue: 0, rateLimit: null });
});

test("each worker has a thread that encodes unless there are to be none, or cores for fewer than that", () => {
  const threads = (workers: number, encoders: string, cores = 8): number =>
    shareOf(
      readConfig(
        { workers: String(workers), encoders, memory: "8GB" },
        {},
        { cores, memory: 64e9, addresses: Infinity },
      ),
    ).encoders;
  expect([threads(3, "2"), threads(3, "0"), threads(1, "4")]).toEqual([1, 0, 4]);
  expect([threads(4, "auto"), threads(5, "auto"), threads(2, "auto", 6), threads(1, "auto", 1)]).toEqual([1, 0, 2, 0]);
});

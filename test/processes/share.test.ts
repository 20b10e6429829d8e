import { expect, test } from "vitest";
import { readConfig, shareOf } from "../../src/config.js";

test("workers share the limits of the whole server, and nothing else", () => {
  const config = readConfig({ workers: "3", rateLimit: "100", memory: "2GB" }, {});
  const share = shareOf(config);
  const divided = [
    "memory",
    "spill",
    "concurrency",
    "streams",
    "queue",
    "connections",
    "tokenStreams",
    "rateLimit",
  ] as const;
  expect(Object.fromEntries(divided.map((name) => [name, share[name]]))).toEqual({
    ...{
      memory: "666MB",
      spill: "3333MB",
      concurrency: 2,
      streams: 42,
      queue: 85,
      connections: 3333,
      tokenStreams: 21,
      rateLimit: 33,
    },
  });
  expect({ ...share, ...Object.fromEntries(divided.map((name) => [name, config[name]])) }).toEqual(config);
});

test("each worker gets at least one slot, and no limit if there is none", () => {
  const config = readConfig({ workers: "8", concurrency: "2", streams: "1", queue: "0", rateLimit: "none" }, {});
  expect(shareOf(config)).toMatchObject({ concurrency: 1, streams: 1, queue: 0, rateLimit: null });
});

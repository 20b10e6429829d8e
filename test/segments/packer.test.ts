import { crc32, gunzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { PACKERS, joinedCrc } from "../../src/segments/packer.js";

test("the checksum of joined bytes follows from those of the parts", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (a, b) => {
      expect(joinedCrc(crc32(a), crc32(b), b.length)).toBe(crc32(Buffer.concat([a, b])));
    }),
  );
  const long = Buffer.alloc(5_000_001, "ab");
  expect(joinedCrc(crc32("x"), crc32(long), long.length)).toBe(crc32(Buffer.concat([Buffer.from("x"), long])));
});

/** What is done with a packer: plain bytes, a flush, or packed bytes of another body put in between. */
const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant("add" as const), bytes: fc.uint8Array({ maxLength: 5_000 }), times: fc.nat(300) }),
    fc.record({ do: fc.constant("flush" as const) }),
    fc.record({ do: fc.constant("insert" as const), bytes: fc.uint8Array({ maxLength: 5_000 }) }),
  ),
  { maxLength: 12 },
);

test("gzip in blocks, with packed bytes of other bodies in between, is one gzip member with all bytes in order", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (doings) => {
      const packer = PACKERS.gzip();
      const plain: Uint8Array[] = [];
      const packed: Uint8Array[] = [];
      for (const doing of doings) {
        if (doing.do === "add") {
          const bytes = Buffer.concat(Array.from({ length: doing.times }, () => doing.bytes));
          plain.push(bytes);
          packed.push(...(await packer.add(bytes)));
        } else packed.push(...(await packer.flush()));
        if (doing.do !== "insert") continue;
        packer.extent();
        const other = PACKERS.gzip();
        await other.flush();
        const inserted = [...(await other.add(doing.bytes)), ...(await other.flush())];
        packed.push(...inserted);
        plain.push(doing.bytes);
        packer.passed(other.extent());
      }
      packed.push(...(await packer.flush()));
      packer.extent();
      packed.push(await packer.end());
      expect(gunzipSync(Buffer.concat(packed)).equals(Buffer.concat(plain))).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test("the checksum in the end of gzip is true: a body with other bytes does not unpack", async () => {
  const packer = PACKERS.gzip();
  const packed = [...(await packer.add(Buffer.from("rows"))), ...(await packer.flush())];
  packer.passed({ bytes: 3, crc: 5 });
  packer.extent();
  packed.push(await packer.end());
  expect(() => gunzipSync(Buffer.concat(packed))).toThrow();
});

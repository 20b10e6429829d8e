import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createGate } from "../../src/engine/gate.js";
import type { Width } from "../../src/query/statement.js";

const { signal: never } = new AbortController();

describe("a gate", () => {
  test("lets what is wide have half of its places and of its queue, and what is small pass it", async () => {
    const gate = createGate(4, 4);
    const wide = [await gate.enter(never, "wide"), await gate.enter(never, "wide")];
    const waiting = [gate.enter(never, "wide"), gate.enter(never, "wide")];
    await expect(gate.enter(never, "wide")).rejects.toMatchObject({ code: "overloaded" });
    const small = [await gate.enter(never, "small"), await gate.enter(never, "small")];
    const later = gate.enter(never, "small");
    small[0]!();
    await later;
    expect(gate.load()).toEqual({ inside: 4, waiting: 2 });
    wide[0]!();
    await waiting[0];
    expect(gate.load()).toEqual({ inside: 4, waiting: 1 });
  });

  test("of one place lets what is wide have it, too", async () => {
    const gate = createGate(1, 1);
    (await gate.enter(never, "wide"))();
    (await gate.enter(never, "small"))();
    await gate.empty();
    expect(gate.load()).toEqual({ inside: 0, waiting: 0 });
  });

  test("never holds more than it may, and in the end lets everybody in whoever leaves or gives up", async () => {
    const guest = fc.record({
      width: fc.constantFrom<Width>("small", "wide"),
      stays: fc.nat(3),
      patience: fc.option(fc.nat(2), { nil: Infinity }),
    });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 5 }), fc.array(guest, { maxLength: 30 }), async (places, guests) => {
        const gate = createGate(places, Infinity);
        const inside: Record<Width, number> = { small: 0, wide: 0 };
        const turns = async (n: number): Promise<void> => {
          for (let i = 0; i < n; i++) await Promise.resolve();
        };
        const visits = guests.map(async ({ width, stays, patience }) => {
          const leaving = new AbortController();
          if (patience !== Infinity) void turns(patience).then(() => leaving.abort(new Error("gave up")));
          const job = async (): Promise<boolean> => {
            inside[width]++;
            const sound = inside.small + inside.wide <= places && inside.wide <= Math.max(1, Math.floor(places / 2));
            await turns(stays);
            inside[width]--;
            return sound;
          };
          return gate.run(job, leaving.signal, width).catch((error: unknown) => (error as Error).message === "gave up");
        });
        expect(await Promise.all(visits)).toEqual(guests.map(() => true));
        await gate.empty();
        expect(gate.load()).toEqual({ inside: 0, waiting: 0 });
      }),
    );
  });
});

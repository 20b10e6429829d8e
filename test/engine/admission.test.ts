import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createAdmission } from "../../src/engine/admission.js";
import type { Cost } from "../../src/query/scan.js";

const { signal: never } = new AbortController();

describe("admission control", () => {
  test("gives heavy reads half of the slots and of the queue, and lets light ones overtake them", async () => {
    const admission = createAdmission(4, 4);
    const heavy = [await admission.admit(never, "heavy"), await admission.admit(never, "heavy")];
    const waiting = [admission.admit(never, "heavy"), admission.admit(never, "heavy")];
    await expect(admission.admit(never, "heavy")).rejects.toMatchObject({ code: "overloaded" });
    const light = [await admission.admit(never, "light"), await admission.admit(never, "light")];
    const later = admission.admit(never, "light");
    light[0]!();
    await later;
    expect(admission.load()).toEqual({ active: 4, waiting: 2 });
    heavy[0]!();
    await waiting[0];
    expect(admission.load()).toEqual({ active: 4, waiting: 1 });
  });

  test("of one slot gives it to heavy reads too", async () => {
    const admission = createAdmission(1, 1);
    (await admission.admit(never, "heavy"))();
    (await admission.admit(never, "light"))();
    await admission.empty();
    expect(admission.load()).toEqual({ active: 0, waiting: 0 });
  });

  test("never exceeds its limits, and admits every job in the end, whichever jobs end or are cancelled", async () => {
    const guest = fc.record({
      cost: fc.constantFrom<Cost>("light", "heavy"),
      stays: fc.nat(3),
      patience: fc.option(fc.nat(2), { nil: Infinity }),
    });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 5 }), fc.array(guest, { maxLength: 30 }), async (slots, guests) => {
        const admission = createAdmission(slots, Infinity);
        const active: Record<Cost, number> = { light: 0, heavy: 0 };
        const ticks = async (n: number): Promise<void> => {
          for (let i = 0; i < n; i++) await Promise.resolve();
        };
        const visits = guests.map(async ({ cost, stays, patience }) => {
          const leaving = new AbortController();
          if (patience !== Infinity) void ticks(patience).then(() => leaving.abort(new Error("gave up")));
          const job = async (): Promise<boolean> => {
            active[cost]++;
            const sound = active.light + active.heavy <= slots && active.heavy <= Math.max(1, Math.floor(slots / 2));
            await ticks(stays);
            active[cost]--;
            return sound;
          };
          return admission
            .run(job, leaving.signal, cost)
            .catch((error: unknown) => (error as Error).message === "gave up");
        });
        expect(await Promise.all(visits)).toEqual(guests.map(() => true));
        await admission.empty();
        expect(admission.load()).toEqual({ active: 0, waiting: 0 });
      }),
    );
  });
});

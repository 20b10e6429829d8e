// Work that is begun before its turn.
import { expect, test } from "vitest";
import { ahead } from "../src/ahead.js";

const ITEMS = [0, 1, 2, 3, 4, 5];

/** Work that ends when the test says so, in any order. */
function controlled() {
  const begun: number[] = [];
  const ends = new Map<number, { readonly resolve: (result: string) => void; readonly reject: (e: Error) => void }>();
  const work = (item: number): Promise<string> => {
    begun.push(item);
    return new Promise((resolve, reject) => ends.set(item, { resolve, reject }));
  };
  return { begun, work, end: (item: number) => ends.get(item)!.resolve(`done ${item}`), ends };
}

test("results come in the order of the items, and only a few items are worked on before their turn", async () => {
  const { begun, work, end } = controlled();
  const dropped: string[] = [];
  const results = ahead(ITEMS, 2, work, (result) => dropped.push(result));
  const first = results.next();
  expect(begun).toEqual([0, 1, 2]);
  end(1);
  end(0);
  expect((await first).value).toEqual([0, "done 0"]);
  expect((await results.next()).value).toEqual([1, "done 1"]);
  expect(begun).toEqual([0, 1, 2, 3]);
  for (const item of [3, 2]) end(item);
  expect((await results.next()).value).toEqual([2, "done 2"]);
  const ended = results.return(undefined);
  end(4);
  await ended;
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  // What nobody will read any more.
  expect(dropped).toEqual(["done 3", "done 4"]);
});

test("a failure is thrown at its turn, once everything that was begun has ended", async () => {
  const { work, end, ends } = controlled();
  const results = ahead(ITEMS, 2, work);
  const first = results.next();
  ends.get(1)!.reject(new Error("bad item"));
  end(0);
  expect((await first).value).toEqual([0, "done 0"]);
  let isThrown = false;
  const second = results.next().catch((error: unknown) => {
    isThrown = true;
    return error;
  });
  await Promise.resolve();
  expect(isThrown).toBe(false);
  for (const item of [2, 3]) end(item);
  expect(await second).toEqual(new Error("bad item"));
});

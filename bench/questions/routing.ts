// How often does a replica already have the data files of a request, by how requests are spread over the replicas? This is
// a simulation, which gives the same figures on every machine.
import type { Question, Row } from "../harness/question.js";
import { LAKE_SIZE, requestsOf } from "../routing/market.js";
import { createFleet, ROUTES, type Traffic } from "../routing/replicas.js";

/** Shares of requests for one stock and for one day; the others are for a year of the whole market. */
const MIXES = {
  "mostly one stock": { stock: 0.7, day: 0.28 },
  "mostly wide": { stock: 0.3, day: 0.4 },
} as const;

const FLEETS = [4, 16, 64];
/** Parts of the lake that fit into a mirror. */
const MIRRORS = [0.01, 0.05, 0.2];
const WARM_UP = 60_000;
const MEASURED = 60_000;
/** Requests right after a change of the fleet. */
const AFTER_CHANGE = 5_000;

const percent = (share: number): string => `${Math.round(100 * share)} %`;

const cellsOf = (route: string, { hits, fetched, busiest }: Traffic): Row => ({
  [route]: percent(hits),
  [`${route}: MB fetched`]: fetched.toFixed(1),
  [`${route}: busiest`]: busiest.toFixed(1),
});

const hits: Question = {
  name: "routing hits",
  answer: () =>
    Promise.resolve(
      Object.entries(MIXES).flatMap(([requests, shares]) =>
        FLEETS.flatMap((replicas) =>
          MIRRORS.map((part): Row => {
            const cells = Object.entries(ROUTES).map(([name, route]) => {
              const fleet = createFleet(replicas, part * LAKE_SIZE, route);
              const next = requestsOf(3, shares);
              fleet.answer(next, WARM_UP);
              return cellsOf(name, fleet.answer(next, MEASURED));
            });
            return Object.assign({ requests, replicas, mirror: percent(part) }, ...cells) as Row;
          }),
        ),
      ),
    ),
};

const CHANGES = ["none", "add", "remove"] as const;

const changes: Question = {
  name: "routing changes",
  answer: () =>
    Promise.resolve(
      FLEETS.flatMap((replicas) =>
        Object.entries(ROUTES).map(([name, route]): Row => {
          const [before, more, less] = CHANGES.map((change) => {
            const fleet = createFleet(replicas, 0.05 * LAKE_SIZE, route);
            const next = requestsOf(3, MIXES["mostly one stock"]);
            fleet.answer(next, WARM_UP);
            if (change !== "none") fleet[change]();
            return percent(fleet.answer(next, AFTER_CHANGE).hits);
          });
          return { replicas, route: name, before: before!, "one more": more!, "one less": less! };
        }),
      ),
    ),
};

export const routing: readonly Question[] = [hits, changes];

// Inside a worker: a server that follows its supervisor's orders, with its share of the limits.
import { rmSync } from "node:fs";
import { OperatorError } from "../errors.js";
import { KEEP_ALIVE } from "../http/listener.js";
import { ALL_RUNS, type Background } from "../http/context.js";
import type { ProcessMetrics } from "../http/metrics.js";
import { openLog } from "../http/observe.js";
import type { Port } from "../http/port.js";
import type { EndOptions } from "../http/ending.js";
import { type RunningServer, startServer } from "../http/server.js";
import { damagedFiles, checkFiles } from "../http/follow.js";
import { ALIVE_EVERY, type Order, endAtOnce, endWhenAlone, send } from "./messages.js";

type Orders = { readonly [Name in Order["order"]]: (order: Extract<Order, { order: Name }>, port: Port) => void };

/** Waits for orders; the first one is to serve. Returns at once; an order ends the process. */
export function runWorker(): void {
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const gathering: ((all: readonly ProcessMetrics[]) => void)[] = [];
  let running: Promise<RunningServer>;
  let spillFolder: string | undefined;
  /** Milliseconds that a connection may live after it learns that its next response is the last. */
  let longest: number;
  let background: Background = ALL_RUNS;

  const gatherMetrics = (): Promise<readonly ProcessMetrics[]> =>
    new Promise((resolve) => {
      gathering.push(resolve);
      void send({ report: "gather" });
    });
  const beat = async (): Promise<void> => {
    await send({ report: "alive" });
    const files = await damagedFiles((await running).context);
    if (files.length > 0) await send({ report: "damaged", files });
  };
  const count = async (): Promise<void> => {
    const { context } = await running;
    await send({ report: "counts", metrics: await context.metrics.collect() });
  };
  const end = async (options: EndOptions): Promise<void> => {
    await (await running).close(options);
    await count();
    process.exit(0);
  };
  const orders: Orders = {
    serve({ config, spill, seen, waits, hadTokens, background: first }, port) {
      spillFolder = spill;
      background = first;
      longest = config.deadline + KEEP_ALIVE;
      running = startServer(config, log, {
        ...{ port, spill, gatherMetrics, warms: true, background: () => background },
        ...(seen ? { lake: { after: seen, waits } } : {}),
        tokens: { wasThere: hadTokens, onThere: () => void send({ report: "tokens" }) },
        onMark: (mark) => void send({ report: "mark", mark }),
      }).catch(failToStart);
      void running.then(({ url }) => {
        void send({ report: "ready", url });
        setInterval(() => void beat(), ALIVE_EVERY);
      });
    },
    background: ({ background: now }) => void (background = now),
    retire: () => void end({ within: longest, keepIdle: true }),
    // The order to serve may not have come yet.
    stop: ({ within }) => void (spillFolder === undefined ? process.exit(0) : end({ within })),
    count: () => void count(),
    suspect: ({ files }) => void running.then(({ context }) => checkFiles(context, files)),
    counted({ all }) {
      for (const resolve of gathering.splice(0)) resolve(all);
    },
  };
  process.on("message", (order: Order, port: Port) => orders[order.order](order as never, port));

  endWhenAlone(() => {
    if (spillFolder !== undefined) rmSync(spillFolder, { recursive: true, force: true });
  });
  // A terminal or a service manager may signal every process; the supervisor decides what a signal means.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
  process.on("uncaughtException", (error) => {
    openLog("error", log).error({ err: error }, "a worker failed");
    endAtOnce();
  });
}

/** Reports the reason and ends the process. */
async function failToStart(error: unknown): Promise<never> {
  const message = error instanceof Error ? error.message : String(error);
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  await send({ report: "failed", message, known: error instanceof OperatorError, cause: { code, path, syscall } });
  endAtOnce();
  return new Promise(() => undefined);
}

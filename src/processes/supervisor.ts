// The process that `tapehouse serve` is: it holds the port, keeps the others running and obeys signals. It serves nothing.
import type { ServerConfig } from "../config.js";
import type { Log } from "../http/observe.js";
import { type ProcessMetrics, addUp } from "../http/metrics.js";
import { openPort } from "../http/listener.js";
import type { LakeMark } from "../http/server.js";
import { createCrew } from "./crew.js";
import { startIngester, type Ingester } from "./ingester.js";
import { openScratch } from "./scratch.js";
import { shareOf } from "./share.js";
import { listenToSignals } from "./signals.js";
import { startWorker, type Worker } from "./worker-process.js";

export interface SuperviseOptions {
  readonly log: Log;
  /** Called once, when every worker accepts connections. */
  readonly onListening: (url: string) => Promise<void>;
  /** The arguments of the command `ingest`; null where the inbox is not watched. */
  readonly ingest: readonly string[] | null;
}

/** Serves until a signal ends it. Throws a CommandError where the server cannot start or cannot be kept up. */
export async function supervise(config: ServerConfig, options: SuperviseOptions): Promise<void> {
  const { log, onListening, ingest } = options;
  // Before all else: a signal that nobody listens to ends the process and leaves what it has made.
  const signals = listenToSignals(process.stdin.isTTY);
  const port = await openPort(config.host, config.port);
  const scratch = await openScratch(config.temp);
  const share = shareOf(config);

  let past: ProcessMetrics = [];
  const gather = async (): Promise<readonly ProcessMetrics[]> => [
    past,
    ...(await Promise.all(crew.workers().map((worker) => worker.count()))),
  ];
  const onDamage = (files: readonly string[]): void => {
    for (const worker of crew.workers()) worker.give({ order: "suspect", files });
  };
  /** Nobody goes back behind it as long as this process lives: that takes the decision of an operator. */
  let seen: LakeMark | null = null;
  const onMark = (mark: LakeMark): void => {
    if (seen === null || mark.sequence >= seen.sequence) seen = mark;
  };
  /** A token file that is gone is no sign that there are no tokens. */
  let hadTokens = false;
  const onTokens = (): void => void (hadTokens = true);
  const start = (waits: boolean): Worker => {
    const worker = startWorker({
      ...{ config: share, spill: scratch.folder(), port, log, gather },
      ...{ seen, waits, hadTokens, onMark, onTokens, onDamage },
    });
    void worker.ended.then(async () => (past = await addUp([past, worker.lastCount()])));
    return worker;
  };
  const crew = createCrew(config.workers, start, log);
  const openIngester = (): Ingester | null => (ingest === null ? null : startIngester(ingest, () => seen, log));
  let ingester: Ingester | null = null;
  let stopping = false;

  const reload = async (): Promise<void> => {
    log.info("reloading");
    await Promise.all([crew.reload(), ingester?.stop()]);
    if (stopping) return;
    ingester = openIngester();
    log.info("reloaded");
  };
  const reloads = oneAfterAnother(reload);
  void signals.hurry.then(() => {
    log.warn("told to stop once more: ending at once");
    crew.kill();
    ingester?.kill();
  });

  try {
    const url = await Promise.race([crew.start(), signals.stop]);
    if (url === undefined) return;
    ingester = openIngester();
    signals.onReload(reloads.ask);
    await onListening(url);
    await Promise.race([signals.stop, crew.hopeless]);
    log.info(
      { seconds: config.grace / 1000 },
      "stopping: answers under way have time to end; a second signal cuts them",
    );
  } finally {
    stopping = true;
    port.close();
    await Promise.all([crew.stop(config.grace), ingester?.stop()]);
    await reloads.done();
    await scratch.close();
  }
}

/** Jobs that are asked for while one waits to begin are one job. */
function oneAfterAnother(job: () => Promise<void>): { ask(): void; done(): Promise<void> } {
  let last = Promise.resolve();
  let waiting = false;
  return {
    ask() {
      if (waiting) return;
      waiting = true;
      last = last.then(() => {
        waiting = false;
        return job();
      });
    },
    done: () => last,
  };
}

// tapehouse follow: keeps the mirror of a bucket up to date. `serve` runs it in a process of its own.
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import type { GivenSettings } from "../config.js";
import { OperatorError, reasonOf } from "../errors.js";
import { UnavailableError } from "../lake/continuity.js";
import { readPointer } from "../lake/kept-versions.js";
import { layoutOf, type Layout } from "../lake/layout.js";
import { mirrorOf, type Mirror } from "../lake/mirror/mirror.js";
import { UnreachableError } from "../objects/errors.js";
import { hasRole, send } from "../processes/messages.js";
import { copy, giveWay, runBeside, type Beside } from "./beside.js";
import { refresh } from "./mirror.js";
import { addSettings } from "./options.js";
import { note } from "./out.js";

/** Milliseconds between two looks at the bucket, on average; replicas that start together spread out. */
const LOOK_EVERY = 1_000;
/** Every 15th look compares everything, and reads files that change rarely. */
const THOROUGH = 15;

export function followCommand(): Command {
  const command = new Command("follow").description(
    "Keep the mirror of a bucket up to date, with its serving copies. serve runs this by default.",
  );
  return addSettings(command, "follow")
    .addHelpText("after", "\nExample:\n  $ tapehouse follow --data s3://market/lake")
    .action(async (options: GivenSettings) => {
      let reaches = true;
      const work = ({ config, signal, seen }: Beside): Promise<unknown> =>
        begin(config.data, hasRole("follow") && seen.after === undefined).then(({ mirror, firstLook }) => {
          giveWay();
          return Promise.all([
            follow(mirror, { layout: layoutOf(config.data), firstLook, signal, onReach: (now) => (reaches = now) }),
            copy(config, { log: note, signal, ...seen }),
          ]);
        });
      await runBeside("follow", options, work, () => reaches);
    });
}

/** Opens the mirror. A server that starts waits until its state is up to date, or until the bucket is found to be away. */
async function begin(
  data: string,
  isAwaited: boolean,
): Promise<{ readonly mirror: Mirror; readonly firstLook: number }> {
  const layout = layoutOf(data);
  const mirror = await mirrorOf(layout);
  if (mirror === null) throw new OperatorError(`${data} is no mirror: name a bucket with --data s3://bucket/prefix`, 2);
  if (!isAwaited) return { mirror, firstLook: 0 };
  const isFresh = await refresh(mirror, layout).then(
    () => true,
    async (error: unknown) => {
      const isAway = error instanceof UnavailableError || error instanceof UnreachableError;
      if (!isAway || (await readPointer(layout)) === 0) throw error;
      note(`${error.message}; serving what was fetched before`);
      return false;
    },
  );
  await send({ report: "current" });
  return { mirror, firstLook: isFresh ? 1 : 0 };
}

interface FollowOptions {
  readonly layout: Layout;
  /** 0 if the first look compares everything. */
  readonly firstLook: number;
  readonly signal: AbortSignal;
  /** Called with whether the bucket answered. */
  readonly onReach: (reaches: boolean) => void;
}

/** Until the signal fires. */
async function follow(mirror: Mirror, { layout, firstLook, signal, onReach }: FollowOptions): Promise<void> {
  let reported: string | null = null;
  for (let look = firstLook; !signal.aborted; look++) {
    const isThorough = look % THOROUGH === 0;
    const fault = await mirror.pull.versions(isThorough, layout.tokens, ...(isThorough ? [layout.gaps] : [])).then(
      () => null,
      (error: unknown) => reasonOf(error),
    );
    if (fault !== reported) note(fault ?? `${mirror.objects.address} is followed again`);
    reported = fault;
    onReach(fault === null);
    await sleep(LOOK_EVERY * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
  }
}

// What signals ask of the supervisor.

export interface Signals {
  /** Resolves when the server is to stop. */
  readonly stop: Promise<void>;
  /** Resolves when it was told so again: at once, then. */
  readonly hurry: Promise<void>;
  /** From now on `reload` is called when the server is to reload, and at once where a signal asked for it earlier. */
  onReload(reload: () => void): void;
}

/** One Ctrl-C may arrive several times: from the terminal, and from what started this process. Milliseconds. */
export const SAME_SIGNAL = 500;

/** SIGINT and SIGTERM stop the server. So does SIGHUP where a terminal is closed with it; elsewhere it means `reload`. */
export function listenToSignals(onTerminal: boolean): Signals {
  let reload: (() => void) | null = null;
  let isReloadDue = false;
  let asked: number | undefined;
  let stopNow: () => void;
  let hurryNow: () => void;
  const stop = new Promise<void>((resolve) => (stopNow = resolve));
  const hurry = new Promise<void>((resolve) => (hurryNow = resolve));
  const onStop = (): void => {
    asked ??= performance.now();
    stopNow();
    if (performance.now() - asked > SAME_SIGNAL) hurryNow();
  };
  const onHangUp = (): void => {
    if (reload) reload();
    else isReloadDue = true;
  };
  const listeners = { SIGINT: onStop, SIGTERM: onStop, SIGHUP: onTerminal ? onStop : onHangUp };
  for (const [signal, listener] of Object.entries(listeners)) process.on(signal, listener);
  return {
    stop,
    hurry,
    onReload(next) {
      reload = next;
      if (isReloadDue) reload();
    },
  };
}

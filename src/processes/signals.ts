// What signals ask of the supervisor.

export interface Signals {
  /** Resolves when the server is to stop. */
  readonly stop: Promise<void>;
  /** Resolves when it was told so again: at once, then. */
  readonly hurry: Promise<void>;
}

/** One Ctrl-C may arrive several times: from the terminal, and from what started this process. Milliseconds. */
export const SAME_SIGNAL = 500;

/** SIGINT and SIGTERM stop the server. So does SIGHUP where a terminal is closed with it; elsewhere it means `reload`. */
export function listenToSignals(reload: () => void, onTerminal: boolean): Signals {
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
  const listeners = { SIGINT: onStop, SIGTERM: onStop, SIGHUP: onTerminal ? onStop : reload };
  for (const [signal, listener] of Object.entries(listeners)) process.on(signal, listener);
  return { stop, hurry };
}

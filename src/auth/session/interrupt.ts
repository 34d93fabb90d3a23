import { CliError, type CliErrorParts } from '../../base/errors.ts';
import type { Clock, Signals } from '../../platform/host.ts';
import { interruptedError } from '../../platform/signals.ts';

/** Handles signals (SIGINT, SIGTERM, SIGHUP) during a login, from the creation of this object until `close`. */
export interface Interruption {
  /** The abort signal of the login, which the first process signal aborts. */
  readonly signal: AbortSignal;
  /** Waits for `work`; rejects immediately when a signal arrives, and with `timeoutError()` after `limit` milliseconds. */
  orInterrupt<T>(work: Promise<T>, limit: number, timeoutError: () => CliError): Promise<T>;
  /** Waits for `work`; after a signal for at most 5 s more (SECURITY.md rule 6). `abandoned`: parts of the error after these 5 s. */
  withGrace<T>(work: Promise<T>, abandoned: CliErrorParts): Promise<T>;
  /** Throws `cancelled` with the exit code of the signal when a signal arrived, because the signal determines the exit code. */
  throwIfInterrupted(): void;
  close(): void;
}

/** Milliseconds for which the program waits for a request in progress after a signal. */
const graceMs = 5_000;

export function listenForSignals({
  clock,
  signals,
}: {
  readonly clock: Clock;
  readonly signals: Signals;
}): Interruption {
  let ending: CliError | undefined;
  const controller = new AbortController();
  const stop = signals.listen((signal) => {
    ending ??= interruptedError(signal);
    controller.abort();
  });
  const { signal } = controller;
  const throwIfInterrupted = (): void => {
    if (ending !== undefined) throw ending;
  };
  const interrupted = onceAborted(signal).then(throwIfInterrupted);
  interrupted.catch(() => undefined);
  return {
    signal,
    throwIfInterrupted,
    close: stop,
    async orInterrupt(work, limit, timeoutError) {
      const done = new AbortController();
      const timeout = sleepOrNever(clock, limit, done.signal).then(() => Promise.reject(timeoutError()));
      const never = interrupted.then(() => new Promise<never>(() => {}));
      try {
        return await Promise.race([work, timeout, never]);
      } finally {
        done.abort();
      }
    },
    async withGrace(work, parts) {
      const done = new AbortController();
      const abandoned = onceAborted(signal)
        .then(() => sleepOrNever(clock, graceMs, done.signal))
        .then(() => {
          if (ending !== undefined)
            ending = new CliError('cancelled', ending.message, { ...parts, exitCode: ending.exitCode });
          throwIfInterrupted();
        })
        .then(() => new Promise<never>(() => {}));
      try {
        return await Promise.race([work, abandoned]);
      } finally {
        done.abort();
      }
    },
  };
}

function onceAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** The returned promise never settles when `signal` aborts the sleep. */
function sleepOrNever(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return new Promise(() => {});
  return clock.sleep(ms, signal).catch(() => new Promise<void>(() => {}));
}

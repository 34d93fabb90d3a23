import { CliError } from '../errors.ts';
import type { Clock, Signals } from '../platform/host.ts';
import { interrupted } from './defer-signals.ts';

export interface RaceDeps {
  readonly clock: Clock;
  readonly signals: Signals;
  /** Milliseconds for the person. */
  readonly limit: number;
  readonly timeoutError: () => CliError;
}

/** Milliseconds an exchange that is under way still gets after a signal (login.md rule 6). */
const grace = 5_000;

/**
 * Waits for the login to be taken and finished, for the time to be over, or for a signal. `taken` settles when a response was
 * accepted: from then on the time limit is over, and a signal waits for the end of the exchange, but not for ever.
 */
export async function raceLogin<T>(deps: RaceDeps, taken: Promise<unknown>, finished: Promise<T>): Promise<T> {
  const waiting = new AbortController();
  let isTaken = false;
  void taken.then(() => {
    isTaken = true;
    waiting.abort();
  });
  const timeout = deps.clock.sleep(deps.limit, waiting.signal).then(
    () => Promise.reject(deps.timeoutError()),
    () => new Promise<never>(() => {}),
  );
  let stop = (): void => {};
  const signalled = new Promise<never>((_, reject) => {
    stop = deps.signals.listen((signal) => {
      if (!isTaken) return reject(interrupted(signal));
      const patience = new AbortController();
      const ended = finished.then(
        () => reject(interrupted(signal)),
        () => reject(interrupted(signal)),
      );
      void ended.then(() => patience.abort());
      deps.clock.sleep(grace, patience.signal).then(
        () => reject(abandoned(interrupted(signal))),
        () => undefined,
      );
    });
  });
  try {
    return await Promise.race([finished, timeout, signalled]);
  } finally {
    stop();
    waiting.abort();
  }
}

function abandoned(error: CliError): CliError {
  return new CliError('cancelled', error.message, {
    exitCode: error.exitCode,
    detail: 'the exchange of the authorization code was still under way and is abandoned; nothing was stored',
    hint: '`cloudctl auth login` starts again',
  });
}

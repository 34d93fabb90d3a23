import { CliError } from '../errors.ts';
import type { Clock, SignalName, Signals } from '../platform/host.ts';
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

export interface Raced<T> {
  readonly value: T;
  /** Came while the exchange was under way: the login is brought to its end, then the program ends as it asked. */
  readonly signal: SignalName | undefined;
}

/**
 * Waits for the login to be taken and finished, for the time to be over, or for a signal. `taken` settles when a response was
 * accepted: from then on the time limit is over, and a signal waits for the end of the exchange, but not for ever.
 */
export async function raceLogin<T>(deps: RaceDeps, taken: Promise<unknown>, finished: Promise<T>): Promise<Raced<T>> {
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
  let caught: SignalName | undefined;
  const signalled = new Promise<never>((_, reject) => {
    stop = deps.signals.listen((signal) => {
      if (!isTaken) return reject(interrupted(signal));
      caught ??= signal;
      const patience = new AbortController();
      const over = (): void => patience.abort();
      finished.then(over, over);
      deps.clock.sleep(grace, patience.signal).then(
        () => reject(abandoned(interrupted(signal))),
        () => undefined,
      );
    });
  });
  try {
    const value = await Promise.race([finished, timeout, signalled]);
    return { value, signal: caught };
  } catch (error) {
    const isOurs = error instanceof CliError && error.code === 'cancelled';
    // The person wanted to leave: that the exchange failed as well is not what the program ended of.
    throw caught === undefined || isOurs ? error : interrupted(caught);
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

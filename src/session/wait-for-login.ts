import { CliError } from '../errors.ts';
import { interruptedError } from '../platform/defer-signals.ts';
import type { Clock, SignalName, Signals } from '../platform/host.ts';

export interface WaitForLoginDeps {
  readonly clock: Clock;
  readonly signals: Signals;
  /** Milliseconds for the person. */
  readonly limit: number;
  readonly timeoutError: () => CliError;
}

/** Milliseconds an exchange that is under way still gets after a signal (login.md rule 6). */
const exchangeGraceMs = 5_000;

export interface WaitForLoginResult<T> {
  readonly value: T;
  /** Came while the exchange was under way: the login is brought to its end, then the program ends as it asked. */
  readonly signal: SignalName | undefined;
}

/**
 * Waits for the login to be taken and finished, for the time to be over, or for a signal. `taken` settles when a response was
 * accepted: from then on the time limit is over, and a signal waits for the end of the exchange, but not for ever.
 */
export async function waitForLogin<T>(
  deps: WaitForLoginDeps,
  taken: Promise<unknown>,
  finished: Promise<T>,
): Promise<WaitForLoginResult<T>> {
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
      if (!isTaken) return reject(interruptedError(signal));
      caught ??= signal;
      const patience = new AbortController();
      const over = (): void => patience.abort();
      finished.then(over, over);
      deps.clock.sleep(exchangeGraceMs, patience.signal).then(
        () => reject(abandonedExchangeError(interruptedError(signal))),
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
    throw caught === undefined || isOurs ? error : interruptedError(caught);
  } finally {
    stop();
    waiting.abort();
  }
}

function abandonedExchangeError(error: CliError): CliError {
  return new CliError('cancelled', error.message, {
    exitCode: error.exitCode,
    detail: 'the exchange of the authorization code was still under way and is abandoned; nothing was stored',
    hint: '`cloudctl auth login` starts again',
  });
}

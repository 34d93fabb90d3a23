import type { Clock } from '../platform/host.ts';
import type { LoginOutcome } from './outcome-page.ts';
import type { LoginPhase } from './request-decision.ts';

/** The state machine of one login: armed, taken once, closed. */
export interface LoginStateMachine<Accepted> {
  phase(): LoginPhase;
  /** The start link was followed; it is good for one use. */
  markStarted(): void;
  /** Latches before anything is awaited; false when the login is not armed. */
  take(accepted: Accepted, from: 'tab' | 'elsewhere'): boolean;
  readonly taken: Promise<Accepted>;
  readonly finished: Promise<LoginOutcome>;
  /** What to tell a tab: the truth after `finish`, or after a minute that the program is still at work. */
  outcome(): Promise<LoginOutcome>;
  /** A tab has begun to wait for the outcome; call the result when it was told, or has gone away. */
  tabWaits(): (told: boolean) => void;
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export interface LoginStateMachineOptions<Accepted> {
  readonly finish: (accepted: Accepted) => Promise<LoginOutcome>;
  readonly clock: Clock;
  /** Frees the port and ends every connection. */
  readonly release: () => Promise<void>;
}

export function createLoginStateMachine<Accepted>(
  options: LoginStateMachineOptions<Accepted>,
): LoginStateMachine<Accepted> {
  let phase: LoginPhase = { kind: 'armed', started: false };
  let tabs = 0;
  const taken = deferred<Accepted>();
  const finished = deferred<LoginOutcome>();
  const told = deferred<void>();
  const closed = deferred<void>();
  const ended = new AbortController();
  // Whoever did not wait for the end still must not meet an unhandled rejection: the tab is told in `outcome`.
  finished.promise.catch(() => undefined);

  const pause = (ms: number) => options.clock.sleep(ms, ended.signal).catch(() => undefined);
  const close = () => {
    if (phase.kind !== 'closed') {
      phase = { kind: 'closed' };
      ended.abort();
      closed.resolve(options.release());
    }
    return closed.promise;
  };
  const outcome = () => {
    const truth = finished.promise.catch((): LoginOutcome => ({ kind: 'failed', reason: unexpectedFailure }));
    return Promise.race([truth, pause(maxTabWaitMs).then((): LoginOutcome => ({ kind: 'unfinished' }))]);
  };
  const windDown = async (from: 'tab' | 'elsewhere') => {
    await Promise.race([from === 'tab' ? told.promise : outcome(), pause(tabGraceMs)]);
    if (tabs > 0) {
      await outcome();
      await Promise.race([told.promise, pause(tabGraceMs)]);
    }
    await close();
  };

  return {
    phase: () => phase,
    markStarted() {
      if (phase.kind === 'armed') {
        phase = { kind: 'armed', started: true };
      }
    },
    take(accepted, from) {
      if (phase.kind !== 'armed') {
        return false;
      }
      phase = { kind: 'taken' };
      taken.resolve(accepted);
      finished.resolve((async () => options.finish(accepted))());
      void windDown(from);
      return true;
    },
    taken: taken.promise,
    finished: finished.promise,
    outcome,
    tabWaits() {
      tabs += 1;
      return (wasTold) => {
        tabs -= 1;
        if (wasTold) {
          told.resolve();
        }
      };
    },
    closed: closed.promise,
    close,
  };
}

/** How long the port stays for a tab that does not ask for its page (rule 28). */
const tabGraceMs = 5000;
/** How long a tab that asked is kept without an answer: longer than any exchange, shorter than a browser's patience. */
const maxTabWaitMs = 60_000;
const unexpectedFailure = 'The login ended with an error, which the terminal shows';

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value | PromiseLike<Value>) => void;
}

function deferred<Value>(): Deferred<Value> {
  let resolve: Deferred<Value>['resolve'] = () => undefined;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

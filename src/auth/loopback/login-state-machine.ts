import { createDeferred } from '../../platform/create-deferred.ts';
import type { Clock } from '../../platform/host.ts';
import type { BrowserTabResponse } from './outcome-page.ts';
import type { LoopbackLoginPhase } from './request-decision.ts';

/** The state machine of one login: armed (waits for a response), taken (a response was accepted), closed. */
export interface LoginStateMachine<Accepted> {
  phase(): LoopbackLoginPhase;
  /** Records that the start link was opened; the link works only once. */
  markStarted(): void;
  /** Accepts a response synchronously, so that no second response is accepted; returns false when the login is not armed. */
  take(accepted: Accepted, from: 'tab' | 'elsewhere'): boolean;
  /** Ends the wait for an authorization response with an error. */
  fail(error: Error): void;
  readonly taken: Promise<Accepted>;
  readonly finished: Promise<BrowserTabResponse>;
  /** The outcome for the browser tab: the result of `finish`, or after one minute the message that the login is still in progress. */
  outcome(): Promise<BrowserTabResponse>;
  /**
   * Registers a browser tab that waits for the outcome. The caller calls the returned function with true when the tab has its
   * page, and with false when the tab was closed.
   */
  tabWaits(): (isAnswered: boolean) => void;
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export interface LoginStateMachineOptions<Accepted> {
  readonly finish: (accepted: Accepted) => Promise<BrowserTabResponse>;
  readonly clock: Clock;
  /** Closes the loopback server and all its connections. */
  readonly release: () => Promise<void>;
}

export function createLoginStateMachine<Accepted>(
  options: LoginStateMachineOptions<Accepted>,
): LoginStateMachine<Accepted> {
  let phase: LoopbackLoginPhase = { kind: 'armed', started: false };
  let tabs = 0;
  const taken = createDeferred<Accepted>();
  const finished = createDeferred<BrowserTabResponse>();
  const answered = createDeferred<void>();
  const closed = createDeferred<void>();
  const ended = new AbortController();
  // The rejection of `finished` is marked as handled, because not every caller awaits it.
  finished.promise.catch(() => undefined);
  taken.promise.catch(() => undefined);

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
    const result = finished.promise.catch((): BrowserTabResponse => ({ kind: 'failed', reason: unexpectedFailure }));
    return Promise.race([result, pause(maxTabWaitMs).then((): BrowserTabResponse => ({ kind: 'unfinished' }))]);
  };
  const windDown = async (from: 'tab' | 'elsewhere') => {
    await Promise.race([from === 'tab' ? answered.promise : outcome(), pause(tabGraceMs)]);
    if (tabs > 0) {
      await outcome();
      await Promise.race([answered.promise, pause(tabGraceMs)]);
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
    fail(error) {
      if (phase.kind !== 'armed') return;
      phase = { kind: 'taken' };
      taken.resolve(Promise.reject(error));
      finished.resolve(Promise.reject(error));
    },
    taken: taken.promise,
    finished: finished.promise,
    outcome,
    tabWaits() {
      tabs += 1;
      return (isAnswered) => {
        tabs -= 1;
        if (isAnswered) {
          answered.resolve();
        }
      };
    },
    closed: closed.promise,
    close,
  };
}

/** Milliseconds for which the port stays open for a browser tab that does not request its page (SECURITY.md rule 28). */
const tabGraceMs = 5000;
/** Milliseconds after which a waiting browser tab gets a page: longer than a code exchange, shorter than the timeout of browsers. */
const maxTabWaitMs = 60_000;
const unexpectedFailure = 'The login failed; the terminal shows the error';

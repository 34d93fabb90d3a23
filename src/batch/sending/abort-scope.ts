/**
 * Aborts the request of one worker. A worker has one request at a time, so one controller serves many requests: creating a
 * controller costs as much as a small request.
 */
export interface AbortScope {
  /** The signal of the request that is sent next. */
  readonly signal: () => AbortSignal;
  /** Aborts the request in flight. */
  readonly abort: () => void;
  /** Removes the listener from `ended`. */
  readonly close: () => void;
}

/** @param ended aborts this request and every later one */
export function createAbortScope(ended: AbortSignal): AbortScope {
  let current = new AbortController();
  const abort = (): void => current.abort();
  if (ended.aborted) abort();
  ended.addEventListener('abort', abort);
  return {
    signal() {
      if (current.signal.aborted && !ended.aborted) current = new AbortController();
      return current.signal;
    },
    abort,
    close: () => ended.removeEventListener('abort', abort),
  };
}

/**
 * Aborts the current request of one worker. A worker has only one request at a time, so one AbortController serves many
 * requests: creating a controller takes as long as a small request.
 */
export interface InFlightRequestAborter {
  /** Returns the signal for the next request of the worker. */
  readonly signal: () => AbortSignal;
  /** Aborts the worker's request that is in flight. */
  readonly abort: () => void;
  /** Removes the abort listener from the signal `ended`. */
  readonly close: () => void;
}

/** @param ended aborts the current request and every later one */
export function createInFlightRequestAborter(ended: AbortSignal): InFlightRequestAborter {
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

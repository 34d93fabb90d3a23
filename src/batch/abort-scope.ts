/** What ends the requests of a lane. There is one at a time, so one controller serves many of them: making one costs as much as a small request. */
export interface AbortScope {
  /** Of the request that is sent next. */
  readonly signal: () => AbortSignal;
  /** Ends the one that is on its way. */
  readonly abort: () => void;
  /** It follows `ended` no longer. */
  readonly close: () => void;
}

/** `ended` cuts it for good. */
export function createAbortScope(ended: AbortSignal): AbortScope {
  let current = new AbortController();
  const cut = (): void => current.abort();
  if (ended.aborted) cut();
  ended.addEventListener('abort', cut);
  return {
    signal() {
      if (current.signal.aborted && !ended.aborted) current = new AbortController();
      return current.signal;
    },
    abort: cut,
    close: () => ended.removeEventListener('abort', cut),
  };
}

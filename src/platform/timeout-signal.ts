/** The longest timer of Node in milliseconds (24 days); a longer timer fires immediately. */
export const maxTimerMs = 2 ** 31 - 1;

/**
 * Aborts with a TimeoutError after `ms` milliseconds, at most 24 days, or before that when one of the signals `until` is aborted,
 * with its reason. The timer does not keep the process running.
 *
 * `AbortSignal.any` refers to its signals weakly, and so does the timer of `AbortSignal.timeout`: in Node 20 a garbage collection
 * removes such a signal together with its time limit, and whoever waits for the combination waits for ever. Here the timer
 * keeps the controller, and with it the signal, until it fires.
 */
export function timeoutSignal(ms: number, ...until: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  setTimeout(
    () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
    Math.min(ms, maxTimerMs),
  ).unref();
  return until.length === 0 ? controller.signal : AbortSignal.any([...until, controller.signal]);
}

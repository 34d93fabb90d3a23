/** Milliseconds that a timer of Node holds, 24 days; a longer one is over at once. */
export const maxTimerMs = 2 ** 31 - 1;

/** `AbortSignal.timeout`, which above that is over at once as well, or throws: whoever allows more than 24 days gets as many. */
export function timeoutSignal(ms: number): AbortSignal {
  return AbortSignal.timeout(Math.min(ms, maxTimerMs));
}

/** The longest timer of Node in milliseconds (24 days); a longer timer fires immediately. */
export const maxTimerMs = 2 ** 31 - 1;

/** `AbortSignal.timeout` limited to 24 days, because with a longer time it would abort immediately or throw. */
export function timeoutSignal(ms: number): AbortSignal {
  return AbortSignal.timeout(Math.min(ms, maxTimerMs));
}

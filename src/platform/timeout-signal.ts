/** The longest timer of Node in milliseconds (24 days); a longer one fires at once. */
export const maxTimerMs = 2 ** 31 - 1;

/** `AbortSignal.timeout`, limited to 24 days: a longer one would abort at once or throw. */
export function timeoutSignal(ms: number): AbortSignal {
  return AbortSignal.timeout(Math.min(ms, maxTimerMs));
}

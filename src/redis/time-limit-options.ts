/**
 * Starts an operation that ends with one of the two callbacks; the returned function is called afterwards to release
 * resources.
 */
export type PromiseExecutorWithCleanup<T> = (
  resolve: (value: T) => void,
  reject: (error: unknown) => void,
) => () => void;

export interface TimeLimitOptions {
  /** Milliseconds. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Resolves with the result of the operation. Throws `late()` after the limit, or the reason of the signal if the signal
 * aborts first.
 */
export function withTimeLimit<T>(
  { limit, signal }: TimeLimitOptions,
  late: () => Error,
  work: PromiseExecutorWithCleanup<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let undo = () => {};
    let isSettled = false;
    const settle = (finish: () => void) => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      undo();
      finish();
    };
    const stop = () => settle(() => reject(signal?.reason));
    const timer = setTimeout(() => settle(() => reject(late())), limit);
    signal?.addEventListener('abort', stop);
    if (signal?.aborted === true) return stop();
    const cancel = work(
      (value) => settle(() => resolve(value)),
      (error) => settle(() => reject(error)),
    );
    if (isSettled) cancel();
    undo = cancel;
    return undefined;
  });
}

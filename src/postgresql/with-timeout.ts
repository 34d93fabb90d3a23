/** Rejects with a DOMException: `TimeoutError` after the limit (milliseconds), `AbortError` when the signal comes first. */
export function withTimeout<T>(work: Promise<T>, limit: number, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => finish(() => reject(new DOMException('the operation was aborted', 'AbortError')));
    const timer = setTimeout(
      () => finish(() => reject(new DOMException('the time limit has passed', 'TimeoutError'))),
      limit,
    );
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      settle();
    };
    signal?.addEventListener('abort', stop);
    if (signal?.aborted === true) stop();
    work.then(
      (value) => finish(() => resolve(value)),
      (error) => finish(() => reject(error)),
    );
  });
}

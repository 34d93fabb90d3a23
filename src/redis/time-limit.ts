/** Work on a socket: begins, and settles through one of the two. What it returns is undone however it ends. */
export type CancellableWork<T> = (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void;

export interface TimeLimit {
  /** Milliseconds. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/** The work's result; `late()` is thrown after the limit, the signal's reason when that comes first. */
export function withTimeLimit<T>(bound: TimeLimit, late: () => Error, work: CancellableWork<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let undo = () => {};
    let settled = false;
    const settle = (how: () => void) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      bound.signal?.removeEventListener('abort', stop);
      undo();
      how();
    };
    const stop = () => settle(() => reject(bound.signal?.reason));
    const timer = setTimeout(() => settle(() => reject(late())), bound.limit);
    bound.signal?.addEventListener('abort', stop);
    if (bound.signal?.aborted === true) return stop();
    const back = work(
      (value) => settle(() => resolve(value)),
      (error) => settle(() => reject(error)),
    );
    if (settled) back();
    undo = back;
    return undefined;
  });
}

/** Rows on their way to a reader that takes them one by one. */
export interface Stream<T> {
  /** Resolves when the row was taken, so that a slow reader slows the batch down. Rejects with what ended the reader. */
  push(row: T): Promise<void>;
  /** Resolves when the reader has done with the last row. */
  end(): Promise<void>;
}

interface Waiting<T> {
  readonly row: T;
  readonly taken: () => void;
  readonly fail: (reason: unknown) => void;
}

/** Starts a reader of rows that are still to come. */
export function streamOf<T>(read: (rows: AsyncIterable<T>) => Promise<void>): Stream<T> {
  const queue: Waiting<T>[] = [];
  let over = false;
  let broken: { readonly reason: unknown } | undefined;
  let wake: () => void = () => {};
  async function* rows(): AsyncGenerator<T> {
    for (;;) {
      const next = queue.shift();
      if (next !== undefined) {
        yield next.row;
        next.taken();
      } else if (over) return;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }
  const reading = read(rows());
  reading.catch((reason: unknown) => {
    broken = { reason };
    for (const { fail } of queue.splice(0)) fail(reason);
  });
  return {
    push: (row) =>
      new Promise((taken, fail) => {
        if (broken !== undefined) return fail(broken.reason);
        queue.push({ row, taken, fail });
        wake();
      }),
    end: () => {
      over = true;
      wake();
      return reading;
    },
  };
}

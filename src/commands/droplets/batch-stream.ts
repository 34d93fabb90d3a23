/** Rows on their way to a reader that takes them as they come, some at a time. */
export interface Stream<T> {
  /** Resolves when the reader is not far behind, so that a slow one slows the batch down. Rejects with what ended it. */
  push(rows: readonly T[]): Promise<void>;
  /** Resolves when the reader has done with the last row. */
  end(): Promise<void>;
}

export interface StreamOptions {
  /** Resolves when the reader may be given more: a system call for every few rows costs more than making them. */
  readonly pause: (over: AbortSignal) => Promise<void>;
  /** Rows that may wait for the reader. */
  readonly most?: number;
}

/** Starts a reader of rows that are still to come. */
export function streamOf<T>(
  read: (rows: AsyncIterable<readonly T[]>) => Promise<void>,
  { pause, most = 1_000 }: StreamOptions,
): Stream<T> {
  let waiting: T[] = [];
  let broken: { readonly reason: unknown } | undefined;
  const over = new AbortController();
  let wake = (): void => {};
  let room = gate();

  async function* batches(): AsyncGenerator<readonly T[]> {
    for (;;) {
      if (waiting.length > 0) {
        const rows = waiting;
        waiting = [];
        yield rows;
        room.open();
        room = gate();
        if (!over.signal.aborted) await pause(over.signal);
      } else if (over.signal.aborted) return;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }
  const reading = read(batches());
  reading.catch((reason: unknown) => {
    broken = { reason };
    room.open();
  });
  return {
    async push(rows) {
      waiting.push(...rows);
      wake();
      while (broken === undefined && waiting.length > most) await room.opened;
      if (broken !== undefined) throw broken.reason;
    },
    end: () => {
      over.abort();
      wake();
      return reading;
    },
  };
}

interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

function gate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

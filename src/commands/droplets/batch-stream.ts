/** Rows on their way to a reader that takes them as they come, some at a time. */
export interface Stream<T> {
  /** To be waited for when the reader is far behind, so that a slow one slows the batch down. Throws, or rejects, with what ended it. */
  push(rows: readonly T[]): Promise<void> | undefined;
  /** Resolves when the reader has done with the last row. */
  end(): Promise<void>;
}

export interface StreamOptions {
  /** Resolves when the reader may be given more: a system call for every few rows costs more than making them. */
  readonly pause: (cut: AbortSignal) => Promise<void>;
  /** Rows that may wait for the reader; half of them cut a pause short. */
  readonly most?: number;
}

/** Starts a reader of rows that are still to come. */
export function streamOf<T>(
  read: (rows: AsyncIterable<readonly T[]>) => Promise<void>,
  { pause, most = 1_000 }: StreamOptions,
): Stream<T> {
  let waiting: T[] = [];
  let broken: { readonly reason: unknown } | undefined;
  let isOver = false;
  let pausing: AbortController | undefined;
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
        pausing = new AbortController();
        if (!isOver && waiting.length < most / 2) await pause(pausing.signal);
      } else if (isOver) return;
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
  const roomy = async (): Promise<void> => {
    while (broken === undefined && waiting.length > most) await room.opened;
    if (broken !== undefined) throw broken.reason;
  };
  return {
    push(rows) {
      for (const row of rows) waiting.push(row);
      wake();
      // A batch that is quicker than the pauses is not slowed down by them.
      if (waiting.length >= most / 2) pausing?.abort();
      if (broken !== undefined) throw broken.reason;
      return waiting.length > most ? roomy() : undefined;
    },
    end: () => {
      isOver = true;
      pausing?.abort();
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

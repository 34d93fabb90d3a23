/** Rows on their way to a reader that takes them as they come, some at a time. */
export interface RowStream<T> {
  /** To be waited for when the reader is far behind, so that a slow one slows the batch down. Throws, or rejects, with what ended it. */
  push(rows: readonly T[]): Promise<void> | undefined;
  /** Resolves when the reader has done with the last row. */
  end(): Promise<void>;
}

export interface RowStreamOptions {
  /** Resolves when the reader may be given more: a system call for every few rows costs more than making them. `over`: there is no more. */
  readonly pause: (over: AbortSignal) => Promise<void>;
  /** Rows that may wait for the reader; half of them are not kept waiting by a pause. */
  readonly most?: number;
}

/** Starts a reader of rows that are still to come. */
export function startRowStream<T>(
  read: (rows: AsyncIterable<readonly T[]>) => Promise<void>,
  { pause, most = 1_000 }: RowStreamOptions,
): RowStream<T> {
  let waiting: T[] = [];
  let broken: { readonly reason: unknown } | undefined;
  let isOver = false;
  const over = new AbortController();
  let pausing: Promise<void> | undefined;
  let wake = (): void => {};
  let room = createOneTimeEvent();
  const enough = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });

  async function* batches(): AsyncGenerator<readonly T[]> {
    for (;;) {
      if (waiting.length > 0) {
        const rows = waiting;
        waiting = [];
        yield rows;
        room.open();
        room = createOneTimeEvent();
        // One that was cut short goes on: to end its timer and to start another costs more than the rows.
        pausing ??= pause(over.signal).finally(() => {
          pausing = undefined;
        });
        if (!isOver && waiting.length < most / 2) await Promise.race([pausing, enough()]);
      } else if (isOver) return;
      else await enough();
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
      // A batch that is quicker than the pauses is not slowed down by them.
      if (pausing === undefined || waiting.length >= most / 2) wake();
      if (broken !== undefined) throw broken.reason;
      return waiting.length > most ? roomy() : undefined;
    },
    end: () => {
      isOver = true;
      over.abort();
      wake();
      return reading;
    },
  };
}

interface OneTimeEvent {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

function createOneTimeEvent(): OneTimeEvent {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

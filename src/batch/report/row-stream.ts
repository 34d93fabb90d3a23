/** A stream of rows for a reader that processes several rows at a time. */
export interface BackpressureRowStream<T> {
  /**
   * Adds rows. If the reader is far behind, the method returns a promise that the caller waits for. Throws or rejects with the
   * error of the reader.
   */
  push(rows: readonly T[]): Promise<void> | undefined;
  /** Resolves when the reader has processed the last row. */
  end(): Promise<void>;
}

export interface BatchRowStreamOptions {
  /**
   * Resolves when the reader may get the next rows; a longer pause means fewer writes. @param over aborted after the last
   * row was added
   */
  readonly pause: (over: AbortSignal) => Promise<void>;
  /** The maximum number of waiting rows. When half of this number of rows is waiting, the pause ends early. */
  readonly most?: number;
}

/** Starts `read` with an empty stream; the caller adds the rows later with the returned object. */
export function startBatchRowStream<T>(
  read: (rows: AsyncIterable<readonly T[]>) => Promise<void>,
  { pause, most = 1_000 }: BatchRowStreamOptions,
): BackpressureRowStream<T> {
  let waiting: T[] = [];
  let failure: { readonly reason: unknown } | undefined;
  let isOver = false;
  const over = new AbortController();
  let pausing: Promise<void> | undefined;
  let wake = (): void => {};
  let taken = createOneTimeEvent();
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
        taken.open();
        taken = createOneTimeEvent();
        // The timer of a pause that ended early is kept, because replacing timers takes more time than processing the rows.
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
    failure = { reason };
    taken.open();
  });
  const untilTaken = async (): Promise<void> => {
    while (failure === undefined && waiting.length > most) await taken.opened;
    if (failure !== undefined) throw failure.reason;
  };
  return {
    push(rows) {
      for (const row of rows) waiting.push(row);
      // The pause ends early, so that a batch that produces rows fast does not wait for the timer.
      if (pausing === undefined || waiting.length >= most / 2) wake();
      if (failure !== undefined) throw failure.reason;
      return waiting.length > most ? untilTaken() : undefined;
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

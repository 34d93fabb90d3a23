import { formatWaitingTime } from '../../cli/duration.ts';
import type { OutputRowPages } from '../../cli/write-list.ts';
import type { BatchIo } from '../batch-io.ts';

/** Without a terminal, prints what the batch is waiting for when nothing was printed for 10 s. */
export interface BatchWaitingNoticePrinter {
  /** The same streams as the given `io`; each line that they print restarts the interval. */
  readonly io: BatchIo;
  /** Sets the text that later notices print for what the batch is waiting for. */
  awaiting(describe: () => string): void;
  /** Called when the batch waits `ms` milliseconds for the rate limit. */
  pausing(ms: number): void;
  stop(): void;
}

const firstIntervalMs = 10_000;
/** The longest interval between two lines, because some CI systems end a job that prints nothing for ten minutes. */
const maxIntervalMs = 300_000;

/** The first line is printed after 10 s of silence, and each further line after twice the previous interval, at most 5 min. */
export function startBatchWaitingNoticePrinter({ host, output, progress }: BatchIo): BatchWaitingNoticePrinter {
  const { clock, stderr } = host;
  const stopped = new AbortController();
  let describe = (): string => 'waiting for the server';
  let [startedAt, printedAt, pausedUntil] = [clock.now(), clock.now(), 0];
  let interval = firstIntervalMs;
  let shown = '';
  const printed = (): void => {
    printedAt = clock.now();
    interval = firstIntervalMs;
  };
  const text = (): string => {
    const now = clock.now();
    if (now < pausedUntil) return `still waiting for the rate limit: ${formatWaitingTime(pausedUntil - now)} left`;
    return `still ${describe()}, for ${formatWaitingTime(now - startedAt)}`;
  };
  const run = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      const left = printedAt + interval - clock.now();
      // A line that is printed during this sleep resets the interval to `firstIntervalMs`.
      if (left > 0) await clock.sleep(Math.min(left, firstIntervalMs), stopped.signal);
      else {
        await progress.show(text());
        printedAt = clock.now();
        interval = Math.min(2 * interval, maxIntervalMs);
      }
    }
  };
  async function* tapped<T>(pages: OutputRowPages<T>): OutputRowPages<T> {
    for await (const page of pages) {
      printed();
      yield page;
    }
  }
  // On a terminal the progress text is always visible, so no notices are needed.
  if (!stderr.isTTY) run().catch(() => {});
  return {
    io: {
      host,
      output: {
        ...output,
        pages: (pages, view) => output.pages(tapped(pages), view),
        show: (...notice) => {
          printed();
          return output.show(...notice);
        },
        note: (...notice) => {
          printed();
          return output.note(...notice);
        },
      },
      progress: {
        ...progress,
        show: (next) => {
          // Showing an unchanged text prints no line, so the interval until the next notice continues.
          if (next !== shown) printed();
          shown = next;
          return progress.show(next);
        },
      },
    },
    awaiting(what) {
      describe = what;
      startedAt = clock.now();
    },
    pausing(ms) {
      pausedUntil = clock.now() + ms;
    },
    stop: () => stopped.abort(),
  };
}

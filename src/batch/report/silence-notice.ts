import { formatWaitingTime } from '../../cli/duration.ts';
import type { RowPages } from '../../cli/write-list.ts';
import type { BatchIo } from '../batch-io.ts';

/** Without a terminal, says what a batch waits for when nothing was printed for 10 s. */
export interface SilenceNotice {
  /** The same output, whose lines end a silence. */
  readonly io: BatchIo;
  /** What is awaited from now on. */
  awaiting(describe: () => string): void;
  /** The rate limit is awaited for `ms` milliseconds. */
  pausing(ms: number): void;
  stop(): void;
}

const firstIntervalMs = 10_000;
/** Some CI systems end a job that prints nothing for ten minutes. */
const maxIntervalMs = 300_000;

/** The first line comes after 10 s, and each further one after twice the time of the one before, 5 min at most. */
export function startSilenceNotice({ host, output, progress }: BatchIo): SilenceNotice {
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
      // Something may be printed meanwhile, after which the interval is the shortest one.
      if (left > 0) await clock.sleep(Math.min(left, firstIntervalMs), stopped.signal);
      else {
        await progress.show(text());
        printedAt = clock.now();
        interval = Math.min(2 * interval, maxIntervalMs);
      }
    }
  };
  async function* tapped<T>(pages: RowPages<T>): RowPages<T> {
    for await (const page of pages) {
      printed();
      yield page;
    }
  }
  // On a terminal the progress is always visible.
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
          // A text that is not new is not printed.
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

import { setMaxListeners } from 'node:events';
import type { ListView } from '../cli/columns.ts';
import type { CommandIo } from '../cli/command-io.ts';
import type { RowPages } from '../cli/write-list.ts';
import type { Clock, HostSystem, SignalName } from '../platform/host.ts';
import type { Lane } from './lane.ts';
import type { Ledger } from './ledger.ts';
import type { Finder } from './lookup.ts';
import type { TimeLimits } from './times.ts';

/** The input and output of a batch: host, results and notices, progress. */
export type BatchIo = Pick<CommandIo, 'host' | 'output' | 'progress'>;

/** What all steps of a run share. */
export interface Run {
  readonly ledger: Ledger;
  readonly lane: Lane;
  readonly finder: Finder;
  readonly clock: Clock;
  readonly times: TimeLimits;
  /** Names that the server refused in this run: further tries do not send them. */
  readonly refused: Set<string>;
  /** Names of requests with a complete response of success that named no droplet: no try of this run sends them again. */
  readonly answered: Set<string>;
  /** Ids of droplets that other runs on this machine have created. */
  readonly foreign: Set<string>;
  /** Once this signal is aborted, no further request is sent. */
  readonly ending: AbortSignal;
  /** Once this signal is aborted, the run no longer waits for responses. */
  readonly ended: AbortSignal;
}

/** The signals that stop a batch when the user interrupts it. */
interface Interruption {
  /** Once this signal is aborted, the batch sends no further request. */
  readonly ending: AbortSignal;
  /** Once this signal is aborted, the batch no longer waits for responses to requests that were sent. */
  readonly ended: AbortSignal;
  readonly receivedSignal: () => SignalName | undefined;
  stop(): void;
}

/**
 * Listens for SIGINT, SIGTERM and a closed stdout. After the first signal, the batch waits a limited time for responses; a
 * second signal ends the wait. @param limit milliseconds
 */
export function listenForInterruption({ signals, clock, stdout }: HostSystem, limit: number): Interruption {
  const ending = new AbortController();
  const ended = new AbortController();
  const over = new AbortController();
  // Every worker of the batch adds an abort listener, and Node warns of a leak after ten listeners.
  setMaxListeners(0, ending.signal, ended.signal);
  let received: SignalName | undefined;
  const end = (): void => {
    ending.abort();
    clock.sleep(limit, over.signal).then(
      () => ended.abort(),
      () => {},
    );
  };
  const stopListening = signals.listen((name) => {
    if (received !== undefined) return ended.abort();
    received = name;
    end();
  });
  // The reader of stdout has closed the pipe; the user can resume the rest of the batch.
  stdout.closed?.addEventListener('abort', end);
  return {
    ending: ending.signal,
    ended: ended.signal,
    receivedSignal: () => received,
    stop() {
      // Without an error listener on stdout, a closed pipe would end the program before the summary is printed on stderr.
      if (stdout.closed?.aborted !== true) stopListening();
      stdout.closed?.removeEventListener('abort', end);
      over.abort();
    },
  };
}

/** A stream of rows for a reader that processes several rows at a time. */
export interface RowStream<T> {
  /**
   * Adds rows. If the reader is far behind, the method returns a promise that the caller waits for. Throws or rejects with the
   * error of the reader.
   */
  push(rows: readonly T[]): Promise<void> | undefined;
  /** Resolves when the reader has processed the last row. */
  end(): Promise<void>;
}

/**
 * Milliseconds between two writes of rows. Users do not notice this delay. Writing several rows at a time avoids most of the
 * system calls.
 */
const flushIntervalMs = 100;

/**
 * Prints rows as ndjson while a run works; undefined for the other formats, which print all rows at the end. A row is built only
 * when it is printed, because waiting rows would leave the young generation and grow the heap.
 */
export function streamRows<T, R>(
  { output, host }: BatchIo,
  view: ListView<R>,
  toRow: (item: T) => R,
): RowStream<T> | undefined {
  if (output.format !== 'ndjson') return undefined;
  async function* pages(batches: AsyncIterable<readonly T[]>): RowPages<R> {
    for await (const items of batches) yield { rows: () => items.map(toRow) };
  }
  return startRowStream((batches) => output.pages(pages(batches), view), host.clock);
}

/**
 * Starts `read` with an empty stream; the caller adds the rows later with the returned object. @param most the maximum number of
 * waiting rows; when half of this number of rows is waiting, the reader gets them early
 */
export function startRowStream<T>(
  read: (rows: AsyncIterable<readonly T[]>) => Promise<void>,
  clock: Pick<Clock, 'sleep'>,
  most = 1_000,
): RowStream<T> {
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
        pausing ??= clock
          .sleep(flushIntervalMs, over.signal)
          .catch(() => {})
          .finally(() => {
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

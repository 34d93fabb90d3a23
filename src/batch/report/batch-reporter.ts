import type { ListView } from '../../cli/columns.ts';
import type { OutputRowPages } from '../../cli/write-list.ts';
import type { BatchIo } from '../batch-io.ts';
import type { BatchLedger } from '../ledger/batch-ledger.ts';
import type { BatchResultRow } from '../ledger/batch-ledger-state.ts';
import { batchRowAfterWait, type DropletWaitResults } from '../waiting/wait-results.ts';
import { crossesTenPercentStep, formatBatchProgressBarLine, formatBatchProgressText } from './batch-progress.ts';
import { startBatchRowStream } from './row-stream.ts';

export const batchResultListView: ListView<BatchResultRow> = {
  columns: [
    { name: 'Name', value: (row) => row.name },
    { name: 'Status', value: (row) => row.status, kind: 'state' },
    { name: 'ID', value: (row) => ('id' in row ? row.id : undefined) },
    { name: 'ActionID', value: (row) => (row.status === 'created' ? row.action_id : undefined), priority: 1 },
    { name: 'Error', value: (row) => ('error' in row ? row.error : undefined) },
    { name: 'PublicIPv4', value: (row) => (row.status === 'created' ? row.public_ipv4 : undefined) },
    { name: 'Ledger', value: (row) => row.ledger, extra: true },
  ],
};

/** Prints the rows and the progress of a batch while it runs. */
export interface BatchReporter {
  /** Reports names whose result is final in this run. If the method returns a promise, the caller waits for it. */
  settled(names: readonly string[]): Promise<void> | undefined;
  /** Reports droplets for which `--wait` no longer waits. */
  awaited(names: readonly string[]): Promise<void> | undefined;
  /** Prints the rows that were not yet printed. @param notSent error of the names that were never sent */
  end(notSent: string): Promise<void>;
}

/**
 * Prints each row as soon as it is known for ndjson, and all rows at the end for the other formats; progress is printed on
 * stderr.
 */
export async function startBatchReporter(
  { output, progress, host }: BatchIo,
  { state, path }: Pick<BatchLedger, 'state' | 'path'>,
  /** Set with `--wait`: the row of a created droplet is printed when the wait for the droplet has ended. */
  results?: DropletWaitResults,
  /** For a batch of one name: whether the ledger file is kept after a run with this result. */
  isLedgerKept: (row: BatchResultRow) => boolean = () => true,
): Promise<BatchReporter> {
  const pause = (over: AbortSignal): Promise<void> => host.clock.sleep(flushIntervalMs, over).catch(() => {});
  let notSentError = '';
  const printedRow = (row: BatchResultRow): BatchResultRow => {
    const printed = results === undefined ? row : batchRowAfterWait(row, results);
    return isLedgerKept(printed) ? { ...printed, ledger: path } : printed;
  };
  function* allRows(notSent: string): Generator<BatchResultRow> {
    for (const row of state.rows(notSent)) yield printedRow(row);
  }
  // A row is built only when it is printed, because waiting rows would leave the young generation and grow the heap.
  async function* rowPages(batches: AsyncIterable<readonly number[]>): OutputRowPages<BatchResultRow> {
    for await (const positions of batches)
      yield { rows: () => positions.map((at) => printedRow(state.rowAt(at, notSentError))) };
  }
  const stream =
    output.format === 'ndjson'
      ? startBatchRowStream(
          (batches: AsyncIterable<readonly number[]>) => output.pages(rowPages(batches), batchResultListView),
          {
            pause,
          },
        )
      : undefined;
  const total = state.batch.names.length;
  const printed = new Uint8Array(stream === undefined ? 0 : total);
  const startedAt = host.clock.now();
  const createdBefore = state.counts().created;
  let created = createdBefore;
  const print = (positions: readonly number[]): Promise<void> | undefined => {
    if (stream === undefined || positions.length === 0) return undefined;
    for (const at of positions) printed[at] = 1;
    return stream.push(positions);
  };
  const printWhere = async (isWanted: (at: number) => boolean): Promise<void> => {
    let positions: number[] = [];
    for (let at = 0; at < total; at++) {
      if (!isWanted(at)) continue;
      positions.push(at);
      if (positions.length < 100) continue;
      await print(positions);
      positions = [];
    }
    await print(positions);
  };
  const showProgress = (previous: number): Promise<void> | undefined => {
    if (!host.stderr.isTTY && !crossesTenPercentStep(previous, created, total)) return undefined;
    const state = { created, total, fresh: created - createdBefore, elapsed: host.clock.now() - startedAt };
    return host.stderr.isTTY
      ? progress.show(formatBatchProgressBarLine(state))
      : output.note(formatBatchProgressText(state));
  };
  const isAwaited = (at: number): boolean => results !== undefined && state.rowAt(at).status === 'created';
  await printWhere((at) => state.isPresent(at) && !isAwaited(at));
  await showProgress(created);
  return {
    settled(names) {
      const positions: number[] = [];
      const previous = created;
      for (const name of names) {
        const at = state.positionOf(name);
        const isPresent = state.isPresent(at);
        if (isPresent) created += 1;
        // A failed row without an error text was not sent. Its row is printed at the end, when the reason is known.
        const row = isPresent ? undefined : state.rowAt(at, '');
        if (isPresent ? !isAwaited(at) : row === undefined || !('error' in row) || row.error !== '') positions.push(at);
      }
      const printing = print(positions);
      const showing = showProgress(previous);
      if (printing === undefined || showing === undefined) return printing ?? showing;
      return Promise.all([printing, showing]).then(() => {});
    },
    awaited: (names) => print(names.map((name) => state.positionOf(name))),
    async end(notSent) {
      await progress.stop();
      if (stream === undefined) return output.list(allRows(notSent), batchResultListView);
      notSentError = notSent;
      await printWhere((at) => printed[at] === 0);
      await stream.end();
    },
  };
}

/**
 * Milliseconds between two writes of rows. Users do not notice this delay. Writing several rows at a time avoids most
 * of the system calls.
 */
const flushIntervalMs = 100;

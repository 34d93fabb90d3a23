import { randomInt } from 'node:crypto';
import type { Clock } from '../../../platform/host.ts';
import { timeoutSignal } from '../../../platform/timeout-signal.ts';
import type { DeepReadOptions } from '../../preflight-options.ts';
import { createRowReadThroughputLimiter } from '../../read-throughput-limiter.ts';
import type { DeepReadProgress } from '../../run.ts';
import type { PostgresqlDatabaseQueryRunOptions } from '../run-preflight-queries-in-database.ts';
import { scanDatabaseRows } from './scan-database-rows.ts';
import type { DatabaseScanResult } from './scanned-row-statistics.ts';

export interface ScanDatabaseTableRowsOptions {
  readonly deep: DeepReadOptions;
  /**
   * These options leave out the member `signal`, because that signal is aborted at the deadline of the queries, and
   * rows may be read after it.
   */
  readonly query: Omit<PostgresqlDatabaseQueryRunOptions, 'signal'>;
  /** This signal is aborted when the user cancels. */
  readonly cancelled: AbortSignal | undefined;
  readonly onRead: (progress: DeepReadProgress) => void;
  /** Clock for the rate and the durations, which ignores changes of the system time (default: performance.now). */
  readonly monotonic?: Clock;
}

function monotonicClock({ sleep }: Clock): Clock {
  return { now: () => performance.now(), sleep };
}

/** Milliseconds between two reports of the progress. */
const reportInterval = 200;

/** Reads the rows of the databases, one table after the other. The rate limit applies to the sum of all tables. */
export async function scanDatabaseTableRows(
  databases: readonly { readonly name: string; readonly encoding: string }[],
  { deep, query, cancelled, onRead, monotonic = monotonicClock(query.clock) }: ScanDatabaseTableRowsOptions,
): Promise<ReadonlyMap<string, DatabaseScanResult>> {
  const expired = deep.timeout === undefined ? [] : [timeoutSignal(deep.timeout)];
  const signal = AbortSignal.any([...expired, ...(cancelled === undefined ? [] : [cancelled])]);
  const limiter = createRowReadThroughputLimiter(deep.bytesPerSecond, monotonic, signal);
  const seeds = [randomInt(2 ** 32), randomInt(2 ** 32)] as const;
  const found = new Map<string, DatabaseScanResult>();
  let progress: DeepReadProgress = { bytes: 0, database: '', table: '', position: 0, tables: 0 };
  let reportedAt = Number.NEGATIVE_INFINITY;
  const pace = (bytes: number) => {
    progress = { ...progress, bytes: progress.bytes + bytes };
    const now = monotonic.now();
    if (now - reportedAt >= reportInterval) {
      reportedAt = now;
      onRead(progress);
    }
    return limiter.take(bytes);
  };
  for (const { name, encoding } of databases) {
    const scan = await scanDatabaseRows(name, encoding, {
      ...{ query: { ...query, signal }, seeds, pace, now: monotonic.now },
      onTable(table, position, tables) {
        progress = { bytes: progress.bytes, database: name, table, position, tables };
        onRead(progress);
      },
    });
    found.set(name, scan);
  }
  return found;
}

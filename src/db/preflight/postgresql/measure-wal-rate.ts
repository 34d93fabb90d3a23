import type { PreflightOptions } from '../preflight-options.ts';
import { getPreflightQueryValue, type PreflightQueryResults } from '../query.ts';
import { laterConnectionInstanceIdentityQuery } from './queries/server-instances.ts';
import { postgresqlSettingsQuery } from './queries/settings.ts';
import { type WalPositionReading, walPositionQuery } from './queries/wal.ts';
import {
  type PostgresqlDatabaseQueryRunOptions,
  runPreflightQueriesInDatabase,
} from './run-preflight-queries-in-database.ts';
import { getPostgresqlSizeSetting } from './size-setting.ts';
import type { WalRate } from './source-facts.ts';

/**
 * Whether a check depends on the current rate of writes: then the preflight waits until the interval between the two
 * readings of the WAL position is over. Otherwise the second WAL position is read directly after the last query.
 */
export function isWalRateIntervalRequired(
  results: PreflightQueryResults,
  { method, sourceDiskFree }: Pick<PreflightOptions, 'method' | 'sourceDiskFree'>,
): boolean {
  const settings = getPreflightQueryValue(results, postgresqlSettingsQuery);
  const isWalLimited =
    settings?.has('max_slot_wal_keep_size') === true &&
    getPostgresqlSizeSetting(settings, 'max_slot_wal_keep_size') >= 0;
  return isWalLimited || method === 'dump' || sourceDiskFree !== undefined;
}

/**
 * Reads the WAL position a second time, at the earliest `interval` milliseconds after the first reading. Returns
 * undefined if the server is in recovery, or if the deadline of the preflight passed.
 */
export async function measureWalRate(
  first: WalPositionReading | undefined,
  readAt: number,
  {
    interval,
    dbname,
    queryOptions,
  }: { readonly interval: number; readonly dbname: string; readonly queryOptions: PostgresqlDatabaseQueryRunOptions },
): Promise<WalRate | undefined> {
  const { clock, signal } = queryOptions;
  if (first === undefined) return undefined;
  await clock.sleep(Math.max(0, interval - (clock.now() - readAt)), signal).catch(() => {});
  if (signal.aborted) return undefined;
  const { results } = await runPreflightQueriesInDatabase(
    dbname,
    [walPositionQuery, laterConnectionInstanceIdentityQuery],
    queryOptions,
  );
  const second = getPreflightQueryValue(results, walPositionQuery);
  // The times of both readings of the WAL position are from the clock of the server.
  if (second === undefined) return undefined;
  const instance = getPreflightQueryValue(results, laterConnectionInstanceIdentityQuery);
  return { bytes: second.bytes - first.bytes, seconds: second.at - first.at, instance };
}

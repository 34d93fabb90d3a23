import { knownQueryValue } from '../query.ts';
import { secondServerInstanceQuery } from './queries/server-instances.ts';
import { type WalPosition, walPositionQuery } from './queries/wal.ts';
import { type QueryDatabaseOptions, queryDatabase } from './query-database.ts';
import type { WalRate } from './source-facts.ts';

/**
 * Reads the WAL position a second time, after the interval (milliseconds) since the first reading. undefined: the server is in
 * recovery, or the deadline of the run passed.
 * @param readAt when the first reading was made, by our clock
 */
export async function measureWalRate(
  first: WalPosition | undefined,
  readAt: number,
  {
    interval,
    dbname,
    queryOptions,
  }: { readonly interval: number; readonly dbname: string; readonly queryOptions: QueryDatabaseOptions },
): Promise<WalRate | undefined> {
  const { clock, signal } = queryOptions;
  if (first === undefined) return undefined;
  await clock.sleep(Math.max(0, interval - (clock.now() - readAt)), signal).catch(() => {});
  if (signal.aborted) return undefined;
  const { results } = await queryDatabase(dbname, [walPositionQuery, secondServerInstanceQuery], queryOptions);
  const second = knownQueryValue(results, walPositionQuery);
  // Both times are from the clock of the server.
  if (second === undefined) return undefined;
  const instance = knownQueryValue(results, secondServerInstanceQuery);
  return { bytes: second.bytes - first.bytes, seconds: second.at - first.at, instance };
}

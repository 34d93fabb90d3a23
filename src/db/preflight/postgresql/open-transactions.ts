import { formatDuration } from '../../../base/text.ts';
import type { OpenTransactionWithWrites } from './queries/open-transactions.ts';

/** Seconds after which a transaction is considered unlikely to end by itself. */
export const maxOpenTransactionSeconds = 300;

export function describeOpenTransactionWithWrites({
  kind,
  id,
  database,
  owner,
  state,
  seconds,
}: OpenTransactionWithWrites): string {
  const what = kind === 'prepared' ? id : `pid ${id}`;
  const age = seconds === undefined ? 'age unknown' : `${formatDuration(seconds * 1000)} old`;
  return [`${what} in ${database} by ${owner}`, ...(kind === 'session' && state !== '' ? [state] : []), age].join(', ');
}

import type { OpenTransaction } from './queries/open-transactions.ts';
import { timeSpanText } from './units.ts';

/** Seconds after which nobody can hope that it ends by itself. */
export const maxTransactionAge = 300;

export function describeTransaction({ kind, id, database, owner, state, seconds }: OpenTransaction): string {
  const what = kind === 'prepared' ? id : `pid ${id}`;
  const age = seconds === undefined ? 'age hidden' : `${timeSpanText(seconds * 1000)} old`;
  return [`${what} in ${database} by ${owner}`, ...(kind === 'session' && state !== '' ? [state] : []), age].join(', ');
}

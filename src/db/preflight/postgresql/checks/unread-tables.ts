import { countOf } from '../../../../base/text.ts';
import { type CheckOutcome, passOutcome, skipOutcome, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, scanOrOutcome, unlistedNote } from '../check.ts';
import type { UnreadTable } from '../deep/results.ts';
import { isUncopyable, type UnreadReason } from '../deep/rows.ts';

export const unreadTablesCheck = declareDatabaseCheck({
  id: 'unread-tables',
  title: 'every row was read',
  headline: 'Tables were not read',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {},
  readsRows: true,
  evaluate(_values, database, facts, options) {
    const read = scanOrOutcome(database, facts, options);
    if ('outcome' in read) return read.outcome;
    const { failure, unread, tables, rows } = read.scan;
    if (failure !== undefined) return { ...unknownOutcome(failure, readAgain), settledBy: '--deep' };
    const others = unread.filter(({ reason }) => !isUncopyable(reason));
    if (others.length > 0) return notRead(others);
    if (unread.length > 0)
      return skipOutcome(`${countOf(unread.length, 'table')} with rows that are damaged or too large to read`);
    return passOutcome(`${countOf(rows, 'row')} of ${countOf(tables, 'table')}`);
  },
});

const readAgain = { text: 'Run the preflight again with --deep.' };

function notRead(tables: readonly UnreadTable[]): CheckOutcome {
  const reasons = [...new Set(tables.map(({ reason }) => reason))];
  return {
    ...unknownOutcome(
      `${countOf(tables.length, 'table')}: ${reasons.map((reason) => reason.replaceAll('_', ' ')).join(', ')}`,
      {
        text: [...new Set(reasons.map((reason) => fixes[reason] ?? readAgain.text))].join(' '),
      },
    ),
    premise: 'the tables that were not read can be copied',
    settledBy: '--deep',
    required: 'every table',
    detail: `The server refused to send the rows, or the reading ended before the last one.${unlistedNote(tables)}`,
    objects: limitObjects(tables).map(
      ({ table, reason, message }) => `${table} (${reason.replaceAll('_', ' ')}: ${message})`,
    ),
  };
}

const fixes: Readonly<Partial<Record<UnreadReason, string>>> = {
  no_privilege: 'Grant the role SELECT on the tables, or the role pg_read_all_data.',
  row_security: 'Read the tables as a role with BYPASSRLS.',
  dropped_or_changed: 'Run the preflight again with --deep while no table is created, altered or dropped.',
  locked: 'Run the preflight again with --deep when no session holds an ACCESS EXCLUSIVE lock on them.',
  recovery_conflict: 'Read the primary, or raise max_standby_streaming_delay of the standby.',
  time_limit: 'Run the preflight again with a longer --deep-timeout, or a higher --deep-rate.',
};

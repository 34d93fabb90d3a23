import { countOf, formatBytes } from '../../../../base/text.ts';
import { type CheckOutcome, failOutcome, passOutcome, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, incompleteScanOutcome, limitObjects, unlistedNote } from '../check.ts';

import type { UnreadTable } from '../deep/results.ts';

import { suggestLengthQueries } from '../owner-queries.ts';
import { largeValuesQuery, type WideTable, wideTablesQuery } from '../queries/tables.ts';

export const largeValuesCheck = declareDatabaseCheck({
  id: 'large-values',
  title: 'no row can be longer than 1 GB',
  headline: 'A row may be longer than 1 GB',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { large: largeValuesQuery, wide: wideTablesQuery },
  readsRows: true,
  evaluate({ large: suspected, wide }, database, { scans }) {
    if (wide.length > 0) return wideRows(wide, database);
    const scan = scans?.get(database);
    const tooLarge = scan?.unread.filter(({ reason }) => reason === 'row_too_large') ?? [];
    if (tooLarge.length > 0) return tooLargeRows(tooLarge, database);
    if (scan !== undefined && incompleteScanOutcome(scan) === undefined)
      return passOutcome(`no long row, the longest one has ${formatBytes(scan.longestRow?.bytes ?? 0)}`);
    const isUnread = (name: string) => scan?.unread.some(({ table }) => table === name) ?? true;
    const large = scan?.failure === undefined ? suspected.filter(({ table }) => isUnread(table)) : suspected;
    if (large.length === 0) return passOutcome('no long row, according to the sizes of TOAST tables');
    return {
      ...unknownOutcome(`${countOf(large.length, 'table')} with long values, and the rows were not read`),
      premise: 'no row is longer than 1 GB',
      settledBy: '--deep',
      required: 'rows shorter than 1 GB in text format, in which a bytea value needs two characters for each byte',
      detail: `A server cannot send a row of more than 1 GB, so the copy of such a row fails on every attempt: "invalid memory alloc request size", "out of memory … Cannot enlarge string buffer". The TOAST data of the listed tables is large enough for such a row, which does not prove that such a row exists.${suggestLengthQueries(large)}${unlistedNote(large)}`,
      objects: limitObjects(large).map(({ table, bytes }) => `${table} (${formatBytes(bytes)} of TOAST)`),
      fix: {
        database,
        by: 'the owner of the tables',
        text: `${splitValues} If no such row exists, use --accept large-values.`,
      },
    };
  },
});

const splitValues =
  'Before the migration, split values that make a row longer than 1 GB into several rows, or move them to files.';

function wideRows(tables: readonly WideTable[], database: string): CheckOutcome {
  const certain = tables.filter(({ isCertain }) => isCertain);
  const named = certain.length > 0 ? certain : tables;
  const observed = `${countOf(named.length, 'table')} with rows that are longer than a page`;
  const more = {
    headline: 'A row is longer than a page',
    required: 'rows that fit into a page of 8 kB without values that can be moved to TOAST',
    detail: `Columns that were added with a constant DEFAULT are not stored in older rows, but in every row of the target: "row is too big". The copy fails on every attempt.${unlistedNote(named)}`,
    objects: limitObjects(named).map(({ table, bytes }) => `${table} (${formatBytes(bytes)} and more)`),
    fix: {
      database,
      by: 'the owner of the tables',
      text: 'Split the table before the migration, or drop the DEFAULT and set the columns to NULL where they have its value.',
    },
  };
  return certain.length > 0
    ? failOutcome(['continuous', 'dump'], observed, more)
    : { ...unknownOutcome(observed), ...more, premise: 'every row of these tables fits into a page' };
}

function tooLargeRows(tables: readonly UnreadTable[], database: string): CheckOutcome {
  return failOutcome(['continuous', 'dump'], `${countOf(tables.length, 'table')} with a row that is too long`, {
    headline: 'A row is longer than 1 GB',
    required: 'rows shorter than 1 GB in text format, in which a bytea value needs two characters for each byte',
    detail: `The server cannot send the row, and reading stopped there: there may be more. The copy fails on every attempt.${unlistedNote(tables)}`,
    objects: limitObjects(tables).map(({ table, message }) => `${table} (${message})`),
    fix: { database, by: 'the owner of the tables', text: splitValues },
  });
}

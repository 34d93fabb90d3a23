import { countOf } from '../../../../base/text.ts';
import { type CheckOutcome, failOutcome, infoOutcome, passOutcome } from '../../finding.ts';
import { declareDatabaseCheck, incompleteScanOutcome, limitObjects, scanOrOutcome, unlistedNote } from '../check.ts';
import type { DuplicateKeys } from '../deep/results.ts';
import type { UncheckedIndex } from '../deep/rows.ts';
import { suggestDuplicateQueries } from '../owner-queries.ts';

export const duplicateKeysCheck = declareDatabaseCheck({
  id: 'duplicate-keys',
  title: 'no unique index has equal keys',
  headline: 'Rows have equal keys under a unique index',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {},
  readsRows: true,
  evaluate(_values, database, facts, options) {
    const read = scanOrOutcome(database, facts, options);
    if ('outcome' in read) return read.outcome;
    const { duplicates, unchecked, comparedKeys } = read.scan;
    if (duplicates.length > 0) return found(duplicates, unchecked, database);
    const incomplete = incompleteScanOutcome(read.scan);
    const compared = countOf(comparedKeys, 'unique index', 'unique indexes');
    if (incomplete !== undefined) return { ...incomplete, ...listed(unchecked) };
    if (unchecked.length === 0) return passOutcome(compared);
    return infoOutcome(`${compared} compared, ${unchecked.length} not compared`, {
      headline: 'The keys of a unique index were not compared',
      ...listed(unchecked),
    });
  },
});

function found(
  duplicates: readonly DuplicateKeys[],
  unchecked: readonly UncheckedIndex[],
  database: string,
): CheckOutcome {
  const other = listed(unchecked).detail;
  return failOutcome(['continuous', 'dump'], countOf(duplicates.length, 'index', 'indexes'), {
    required: 'none',
    detail: `The index does not contain all rows, so the source did not reject them. The target does, on every attempt: "duplicate key value violates unique constraint".${suggestDuplicateQueries(duplicates)}${unlistedNote(duplicates)}${other === undefined ? '' : ` ${other}`}`,
    objects: limitObjects(duplicates).map(
      ({ index, table, keys, rows }) => `${index} on ${table} (${countOf(keys, 'key')} in ${countOf(rows, 'row')})`,
    ),
    fix: {
      database,
      by: 'the data owner',
      text: 'Change or delete the rows that have the same key, then rebuild the index with REINDEX.',
    },
  });
}

function listed(unchecked: readonly UncheckedIndex[]): { readonly detail?: string } {
  if (unchecked.length === 0) return {};
  const names = limitObjects(unchecked).map(({ index, reason }) => `${index} (${reason.replaceAll('_', ' ')})`);
  return { detail: `Keys not compared: ${names.join(', ')}.${unlistedNote(unchecked)}` };
}

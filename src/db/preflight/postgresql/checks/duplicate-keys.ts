import { countOf } from '../../../../base/text.ts';
import { failOutcome, infoOutcome, type PreflightCheckOutcome, passOutcome } from '../../finding.ts';
import {
  buildIncompleteScanOutcome,
  buildUnlistedObjectsNote,
  declareDatabasePreflightCheck,
  getRowScanOrCheckOutcome,
  limitFindingObjects,
} from '../check.ts';
import type { DuplicateUniqueKeys } from '../deep/results.ts';
import type { UncheckedUniqueIndex } from '../deep/rows.ts';

import { suggestQueriesForDuplicateKeys } from '../owner-queries.ts';

export const duplicateKeysCheck = declareDatabasePreflightCheck({
  id: 'duplicate-keys',
  title: 'no unique index has equal keys',
  headline: 'Rows have equal keys under a unique index',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {},
  readsRows: true,
  evaluate(_values, database, facts, options) {
    const read = getRowScanOrCheckOutcome(database, facts, options);
    if ('outcome' in read) return read.outcome;
    const { duplicates, unchecked, comparedKeys } = read.scan;
    if (duplicates.length > 0) return found(duplicates, unchecked, database);
    const incomplete = buildIncompleteScanOutcome(read.scan);
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
  duplicates: readonly DuplicateUniqueKeys[],
  unchecked: readonly UncheckedUniqueIndex[],
  database: string,
): PreflightCheckOutcome {
  const other = listed(unchecked).detail;
  return failOutcome(['continuous', 'dump'], countOf(duplicates.length, 'index', 'indexes'), {
    required: 'none',
    detail: `The index does not contain all rows, so the source did not reject them. The target does, on every attempt: "duplicate key value violates unique constraint".${suggestQueriesForDuplicateKeys(duplicates)}${buildUnlistedObjectsNote(duplicates)}${other === undefined ? '' : ` ${other}`}`,
    objects: limitFindingObjects(duplicates).map(
      ({ index, table, keys, rows }) => `${index} on ${table} (${countOf(keys, 'key')} in ${countOf(rows, 'row')})`,
    ),
    fix: {
      database,
      by: 'the data owner',
      text: 'Change or delete the rows that have the same key, then rebuild the index with REINDEX.',
    },
  });
}

function listed(unchecked: readonly UncheckedUniqueIndex[]): { readonly detail?: string } {
  if (unchecked.length === 0) return {};
  const names = limitFindingObjects(unchecked).map(({ index, reason }) => `${index} (${reason.replaceAll('_', ' ')})`);
  return { detail: `Keys not compared: ${names.join(', ')}.${buildUnlistedObjectsNote(unchecked)}` };
}

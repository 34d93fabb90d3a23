import { countOf } from '../../../../base/text.ts';
import {
  failOutcome,
  infoOutcome,
  type PreflightCheckOutcome,
  passOutcome,
  skipOutcome,
  unknownOutcome,
} from '../../finding.ts';
import {
  buildIncompleteScanOutcome,
  buildUnlistedObjectsNote,
  declareDatabasePreflightCheck,
  getRowScanOrCheckOutcome,
  limitFindingObjects,
} from '../check.ts';
import type { OrphanedRows } from '../deep/results.ts';

import { suggestQueriesForOrphans } from '../owner-queries.ts';
import { replicationRoleSettersQuery, uncheckedForeignKeysQuery } from '../queries/constraints.ts';

export const orphanedRowsCheck = declareDatabasePreflightCheck({
  id: 'orphaned-rows',
  title: 'every foreign key references a row',
  headline: 'Rows reference rows that do not exist',
  severity: { dump: 'blocker' },
  queries: { unchecked: uncheckedForeignKeysQuery, setters: replicationRoleSettersQuery },
  readsRows: true,
  evaluate({ unchecked, setters }, database, facts, options) {
    if (options.deep === undefined) {
      const doubts = [...unchecked, ...setters];
      if (options.method !== 'dump' || doubts.length === 0) return skipOutcome('needs --deep');
      return {
        ...unknownOutcome(`${countOf(doubts.length, 'way', 'ways')} around foreign keys, and the rows were not read`),
        required: 'rows that satisfy every foreign key',
        detail: `${harm}${buildUnlistedObjectsNote(doubts)}`,
        objects: limitFindingObjects(doubts),
        settledBy: 'cloudctl db preflight --deep',
        fix: { text: 'Run the preflight with --deep, which compares the keys of the rows.' },
      };
    }
    const read = getRowScanOrCheckOutcome(database, facts, options);
    if ('outcome' in read) return read.outcome;
    const { orphans, uncomparedForeignKeys, comparedForeignKeys } = read.scan;
    if (orphans.length > 0) return found(orphans, database);
    const incomplete = buildIncompleteScanOutcome(read.scan);
    if (incomplete !== undefined) return incomplete;
    const compared = countOf(comparedForeignKeys, 'foreign key');
    if (uncomparedForeignKeys.length === 0) return passOutcome(compared);
    return infoOutcome(`${compared} compared, ${uncomparedForeignKeys.length} not compared`, {
      headline: 'The rows of a foreign key were not compared',
      objects: limitFindingObjects(uncomparedForeignKeys).map(
        ({ name, table, reason }) => `${name} on ${table} (${reason.replaceAll('_', ' ')})`,
      ),
    });
  },
});

const harm =
  'A dump is restored with its rows before its foreign keys, and the target then rejects the key: "insert or update on table … violates foreign key constraint". A continuous migration copies such rows without a check.';

function found(orphans: readonly OrphanedRows[], database: string): PreflightCheckOutcome {
  return failOutcome(['dump'], countOf(orphans.length, 'foreign key'), {
    required: 'none',
    detail: `${harm}${suggestQueriesForOrphans(orphans)}${buildUnlistedObjectsNote(orphans)}`,
    objects: limitFindingObjects(orphans).map(
      ({ name, table, rows }) => `${name} on ${table} (${countOf(rows, 'row')})`,
    ),
    fix: {
      database,
      by: 'the data owner',
      text: 'Delete the rows, or insert the rows that they reference.',
    },
  });
}

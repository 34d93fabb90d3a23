import { countOf } from '../../../../base/text.ts';
import {
  type CheckOutcome,
  failOutcome,
  infoOutcome,
  passOutcome,
  skipOutcome,
  unknownOutcome,
  warnOutcome,
} from '../../finding.ts';
import { declareDatabaseCheck, incompleteScanOutcome, limitObjects, scanOrOutcome, unlistedNote } from '../check.ts';
import type { OrphanedRows } from '../deep/results.ts';
import { suggestOrphanQueries } from '../owner-queries.ts';
import { roleSettersQuery, switchedOffConstraintsQuery } from '../queries/constraints.ts';

export const orphanedRowsCheck = declareDatabaseCheck({
  id: 'orphaned-rows',
  title: 'every foreign key references a row',
  headline: 'Rows reference rows that do not exist',
  severity: { dump: 'blocker' },
  queries: { switchedOff: switchedOffConstraintsQuery, setters: roleSettersQuery },
  readsRows: true,
  evaluate({ switchedOff, setters }, database, facts, options) {
    const disabled = switchedOff.filter(({ isDisabled }) => isDisabled).map(({ name }) => name);
    if (options.deep === undefined) {
      const unchecked = switchedOff.filter(({ mayHaveOrphans }) => mayHaveOrphans).map(({ name }) => name);
      const doubts = [...unchecked, ...setters];
      if (options.method !== 'dump' && disabled.length > 0) return notEnforced(disabled, database);
      if (options.method !== 'dump' || doubts.length === 0) return skipOutcome('needs --deep');
      return {
        ...unknownOutcome(`${countOf(doubts.length, 'way', 'ways')} around foreign keys, and the rows were not read`),
        required: 'rows that satisfy every foreign key',
        detail: `${harm}${unlistedNote(doubts)}`,
        objects: limitObjects(doubts),
        settledBy: 'cloudctl db preflight --deep',
        fix: { text: 'Run the preflight with --deep, which compares the keys of the rows.' },
      };
    }
    const read = scanOrOutcome(database, facts, options);
    if ('outcome' in read) return read.outcome;
    const { orphans, uncomparedForeignKeys, comparedForeignKeys } = read.scan;
    if (orphans.length > 0) return found(orphans, database);
    const incomplete = incompleteScanOutcome(read.scan);
    if (incomplete !== undefined) return incomplete;
    if (disabled.length > 0) return notEnforced(disabled, database);
    const compared = countOf(comparedForeignKeys, 'foreign key');
    if (uncomparedForeignKeys.length === 0) return passOutcome(compared);
    return infoOutcome(`${compared} compared, ${uncomparedForeignKeys.length} not compared`, {
      headline: 'The rows of a foreign key were not compared',
      objects: limitObjects(uncomparedForeignKeys).map(
        ({ name, table, reason }) => `${name} on ${table} (${reason.replaceAll('_', ' ')})`,
      ),
    });
  },
});

const harm =
  'A dump is restored with its rows before its foreign keys, and the target then rejects the key: "insert or update on table … violates foreign key constraint". A continuous migration copies such rows without a check.';

function notEnforced(disabled: readonly string[], database: string): CheckOutcome {
  return warnOutcome(`${countOf(disabled.length, 'constraint')} with disabled triggers`, {
    headline: 'A constraint is not enforced on the source',
    required: 'none',
    detail: `ALTER TABLE … DISABLE TRIGGER ALL also disables the triggers of foreign keys and deferrable constraints. A dump creates them enabled: statements of the application that succeed now fail after the cut-over ("violates foreign key constraint").${unlistedNote(disabled)}`,
    objects: limitObjects(disabled),
    fix: {
      database,
      by: 'a superuser',
      text: 'Enable the triggers (ALTER TABLE … ENABLE TRIGGER ALL), or drop constraints that the application does not satisfy.',
    },
  });
}

function found(orphans: readonly OrphanedRows[], database: string): CheckOutcome {
  return failOutcome(['dump'], countOf(orphans.length, 'foreign key'), {
    required: 'none',
    detail: `${harm}${suggestOrphanQueries(orphans)}${unlistedNote(orphans)}`,
    objects: limitObjects(orphans).map(({ name, table, rows }) => `${name} on ${table} (${countOf(rows, 'row')})`),
    fix: {
      database,
      by: 'the data owner',
      text: 'Delete the rows, or insert the rows that they reference.',
    },
  });
}

import { countOf } from '../../../../base/text.ts';
import { failOutcome, type PreflightCheckOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { buildUnlistedObjectsNote, declareDatabasePreflightCheck, limitFindingObjects } from '../check.ts';
import {
  type NullableHashIndexColumn,
  noEqualityOperatorColumnsQuery,
  nullableHashIndexColumnsQuery,
  selectHashIndexColumnsUsedByTarget,
  type TableWithUnsafeReplicaIdentity,
  unsafeReplicaIdentitiesQuery,
} from '../queries/replica-identities.ts';

import {
  groupIncomparableColumnsByTable,
  type IncomparableColumnsByTable,
  replicaIdentityFix,
} from '../replica-identity-fix.ts';
import { getPostgresqlSourceVersion } from '../source-facts.ts';

export const fullWithoutEqCheck = declareDatabasePreflightCheck({
  id: 'full-without-eq',
  title: 'rows of tables with REPLICA IDENTITY FULL can be identified',
  headline: 'Rows of a table with REPLICA IDENTITY FULL cannot be identified',
  severity: { continuous: 'blocker' },
  queries: {
    identities: unsafeReplicaIdentitiesQuery,
    unequalColumns: noEqualityOperatorColumnsQuery,
    hashedNulls: nullableHashIndexColumnsQuery,
  },
  evaluate({ identities, unequalColumns, hashedNulls }, database, facts, options) {
    const unequal = groupIncomparableColumnsByTable(unequalColumns);
    const full = identities.filter(({ identity, unlogged }) => identity === 'f' && !unlogged);
    const found = full.filter(({ keyed, name }) => !keyed && unequal.has(name));
    const missed =
      found.length > 0
        ? []
        : selectHashIndexColumnsUsedByTarget(hashedNulls, options).filter(({ table }) =>
            full.some(({ name }) => name === table),
          );
    if (missed.length > 0) return missedRows(missed, database);
    if (found.length === 0) return passOutcome(full.length === 0 ? 'no such table' : countOf(full.length, 'table'));
    return failOutcome(['continuous'], countOf(found.length, 'table'), {
      required: 'a primary key, or only columns whose types have an equality operator',
      detail: `The first UPDATE or DELETE stops the replication of the whole database, not only of the table: "could not identify an equality operator for type ${firstType(found, unequal)}".${buildUnlistedObjectsNote(found)}`,
      objects: limitFindingObjects(found).map(({ name }) => `${name} (${unequal.get(name)?.join(', ')})`),
      fix: replicaIdentityFix(found, unequal, database, getPostgresqlSourceVersion(facts)),
    });
  },
});

function missedRows(missed: readonly NullableHashIndexColumn[], database: string): PreflightCheckOutcome {
  const certain = missed.filter(({ rows }) => rows === 'violate');
  const named = certain.length > 0 ? certain : missed;
  const indexes = [...new Set(named.map(({ index }) => index))];
  const more = {
    headline: 'A hash index of the target does not find rows with NULL',
    required: 'a primary key, or no hash index on a nullable column',
    detail: `PostgreSQL 17 and newer can use an index to find the changed row. A hash index contains no NULL values: a row with NULL in the indexed column is not found, and its UPDATE or DELETE is lost on the target without an error.${buildUnlistedObjectsNote(named)}`,
    objects: limitFindingObjects(named).map(({ table, column, index }) => `${table} (${column}, ${index})`),
    fix: {
      database,
      by: 'the owner of the tables, or a superuser',
      text: `Add a primary key, which is best. Otherwise drop the index until the cut-over and create it on the target afterwards: ${limitFindingObjects(
        indexes,
      )
        .map((index) => `DROP INDEX ${index}`)
        .join('; ')}.`,
    },
  };
  const observed = countOf(named.length, 'table');
  return certain.length > 0 ? failOutcome(['continuous'], observed, more) : warnOutcome(observed, more);
}

/** Returns the type of the first incomparable column of the first table: `json` of `doc json`. */
function firstType([first]: readonly TableWithUnsafeReplicaIdentity[], unequal: IncomparableColumnsByTable): string {
  const described = unequal.get(first?.name ?? '')?.[0] ?? '';
  return /^(?:"(?:[^"]|"")*"|\S+) (.*)$/s.exec(described)?.[1] ?? described;
}

import { countOf } from '../../../../base/text.ts';
import { requoteName } from '../../../../postgresql/quote.ts';
import { decodeBoolean } from '../../../../postgresql/rows.ts';
import { isNullField } from '../../../../postgresql/table-rows.ts';
import {
  type CheckOutcome,
  failOutcome,
  infoOutcome,
  passOutcome,
  removalEffect,
  unknownOutcome,
  warnOutcome,
} from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { settleByScan } from '../deep/results.ts';
import { alterPrefix, dropConstraintSql, dropConstraintsFix, quoteName } from '../owner-queries.ts';
import {
  constraintColumnsSql,
  decodeConstraint,
  type InheritedColumn,
  inheritedColumnsQuery,
  type NamedConstraint,
} from '../queries/constraints.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { type RefusedColumn, refusedNullsQuery } from '../queries/refused-values.ts';
import {
  completeBySearch,
  constraintRowsSql,
  decodeSearchedTable,
  domainRowsSql,
  type PreliminaryResult,
  searchedTableSql,
  type ViolationResult,
} from '../queries/row-scan.ts';
import { rowsQuery } from '../query.ts';

/**
 * A constraint that is NOT VALID: existing rows were never checked. For NOT NULL constraints the rows are read. The
 * rows of a CHECK constraint are `unseen`, because preflight evaluates no expression of a user.
 */
interface UnvalidatedConstraint extends NamedConstraint, PreliminaryResult {
  /** Whether the domain of the constraint is used in arrays, because of which VALIDATE CONSTRAINT fails. */
  readonly inArrays: boolean;
  /** The initial copy does not check foreign keys, but all other constraints. */
  readonly foreignKey: boolean;
}

/**
 * NOT ENFORCED constraints of PostgreSQL 18 are left out, because they are never checked. A constraint of a partitioned
 * table is left out, because its partitions have it too.
 */
export const unvalidatedConstraintsQuery = rowsQuery<UnvalidatedConstraint>({
  id: 'unvalidated-constraints',
  scope: 'database',
  when: featureCondition('not-valid'),
  sql: (version) => {
    const arrays = domainRowsSql("t.typarray <> '0' AND a.atttypid = t.typarray");
    return `
      SELECT
        ${constraintColumnsSql},
        k.contype = 'f' AS foreign_key,
        ${arrays} AS in_arrays,
        ${constraintRowsSql(version)} AS filled,
        t.*
      FROM pg_constraint k
      LEFT JOIN LATERAL (
        SELECT ${searchedTableSql(version)}
        FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.conkey[1]
        WHERE k.contype = 'n' AND c.oid = k.conrelid
      ) t ON true
      WHERE NOT k.convalidated${version < 180_000 ? '' : ' AND k.conenforced'}
      ORDER BY 2, 1
    `;
  },
  row: (row) => ({
    ...decodeConstraint(row),
    inArrays: decodeBoolean(row, 'in_arrays'),
    foreignKey: decodeBoolean(row, 'foreign_key'),
    ...(decodeBoolean(row, 'filled')
      ? { rows: 'unseen', searched: decodeSearchedTable(row) }
      : { rows: decodeBoolean(row, 'in_arrays') ? 'unseen' : 'none' }),
  }),
  searchRows: (found, search) => completeBySearch(found, search, isNullField),
});

export const notValidCheck = declareDatabaseCheck({
  id: 'not-valid',
  title: 'every row satisfies every constraint',
  headline: 'A constraint is not validated for every row',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    unvalidated: unvalidatedConstraintsQuery,
    looserColumns: inheritedColumnsQuery,
    refusedNulls: refusedNullsQuery,
  },
  readsRows: true,
  evaluate({ unvalidated, looserColumns, refusedNulls }, database, { scans }) {
    const copied = unvalidated.filter(({ foreignKey }) => !foreignKey);
    const seen = (result: ViolationResult) => ({
      constraints: copied.filter(({ rows }) => rows === result),
      columns: looserColumns.filter(({ rows }) => rows === result),
    });
    const [violated, unseen] = [seen('violate'), seen('unseen')];
    if (violated.constraints.length > 0) return violatedOutcome(violated.constraints, unvalidated, database);
    if (violated.columns.length > 0) return nullableOutcome('violate', violated.columns, database);
    const nulls = settleByScan(refusedNulls, scans?.get(database));
    const found = nulls.filter(({ rows }) => rows === 'violate');
    const certain = found.filter(({ isCertain }) => isCertain);
    if (certain.length > 0) return nullOutcome('violate', certain, database);
    if (found.length > 0) return nullOutcome('unseen', found, database);
    const unreadNulls = nulls.filter(({ rows }) => rows === 'unseen');
    if (unreadNulls.length > 0) return nullOutcome('unseen', unreadNulls, database);
    if (unseen.constraints.length > 0) return uncheckedOutcome(unseen.constraints, unvalidated, database);
    if (unseen.columns.length > 0) return nullableOutcome('unseen', unseen.columns, database);
    if (looserColumns.length > 0) return nullableOutcome('fit', looserColumns, database);
    if (unvalidated.length === 0) return passOutcome('all');
    return infoOutcome(countOf(unvalidated.length, 'constraint'), {
      detail: `Constraints that are NOT VALID on the source are NOT VALID on the target too. All rows satisfy the listed constraints; foreign keys are not checked during the copy.${unlistedNote(unvalidated)}`,
      objects: named(unvalidated, []),
    });
  },
});

/** PostgreSQL does not check a NULL that a subquery, an outer join, a window function or an assignment to a part returns. */
function nullOutcome(rows: 'violate' | 'unseen', columns: readonly RefusedColumn[], database: string): CheckOutcome {
  const observed = countOf(columns.length, 'column');
  const more = {
    headline: 'A column can contain NULL in a domain that refuses it',
    required: 'no NULL in a domain that refuses it',
    detail: `The source stores such a NULL without an error where a subquery, an outer join, a window function, ADD ATTRIBUTE or an assignment to a part of a value returns it. The target refuses it, so the copy fails on every attempt: "domain … does not allow null values".${unlistedNote(columns)}`,
    objects: limitObjects(columns).map(({ table, column, type }) => `${column} of ${table} (${type})`),
    fix: {
      database,
      by: 'the owner of the tables',
      text: 'Set a value where the rows have NULL, or drop the NOT NULL or the CHECK constraint of the domain until the cut-over (ALTER DOMAIN … DROP NOT NULL).',
    },
  };
  if (rows === 'violate') return failOutcome(['continuous', 'dump'], `${observed} with NULL`, more);
  const isRead = columns.every((one) => one.rows === 'violate');
  return {
    ...unknownOutcome(isRead ? `${observed} with NULL` : `${observed} whose rows were not read`),
    ...more,
    premise: 'the domains of these columns accept the NULL of their rows',
    ...(isRead ? {} : { settledBy: '--deep' }),
  };
}

function violatedOutcome(
  violated: readonly UnvalidatedConstraint[],
  all: readonly UnvalidatedConstraint[],
  database: string,
): CheckOutcome {
  return failOutcome(['continuous', 'dump'], countOf(violated.length, 'constraint'), {
    required: 'no row that violates a constraint',
    detail: `NOT VALID exempts existing rows, but the target checks every copied row. A row that violates the constraint makes the copy fail on every attempt: ${violationError(violated[0]!)}.${unlistedNote(all)}`,
    objects: named(violated, all),
    fix: dropConstraintsFix(
      unvalidatedConstraintsQuery,
      violated,
      database,
      'Correct the rows that violate the constraints, or drop the constraints until the cut-over.',
    ),
  });
}

function uncheckedOutcome(
  unseen: readonly UnvalidatedConstraint[],
  all: readonly UnvalidatedConstraint[],
  database: string,
): CheckOutcome {
  const drops = unseen.filter(({ inArrays }) => inArrays).map((one) => dropConstraintSql(one));
  const nested =
    drops.length === 0
      ? ''
      : ` A domain constraint used in arrays cannot be validated: ${limitObjects(drops).join('; ')}.`;
  const fix = {
    // The fix is for review: to validate a constraint, the server calls the functions of the constraint as the role
    // that runs the statement.
    review: unseen
      .filter(({ inArrays }) => !inArrays)
      .map((one) => `${alterPrefix(one)} VALIDATE CONSTRAINT ${requoteName(one.name)}`),
    notSimulated: 'whether the rows satisfy the constraints is not known',
    database,
    by: 'the owner of the tables, or a superuser',
    text: `Validate the constraints; the server reads each table once, and the table remains writable. If the server reports "is violated by some row", correct the rows that violate the constraint, or DROP CONSTRAINT until the cut-over.${nested} The fix needs no undo.`,
  };
  return {
    ...unknownOutcome(`${countOf(unseen.length, 'constraint')} NOT VALID; the rows were not checked`, fix),
    detail: `A row that violates a constraint makes the copy fail on every attempt. Tables larger than 256 MB and tables that this role can read only in part are not checked, and expressions of CHECK constraints are not evaluated.${unlistedNote(all)}`,
    objects: named(unseen, all),
  };
}

/** The constraints in `first`, then the rest of `all`, each with its owner. */
function named(first: readonly UnvalidatedConstraint[], all: readonly UnvalidatedConstraint[]): readonly string[] {
  const others = all.filter((one) => !first.includes(one));
  return limitObjects([...first, ...others]).map(({ name, owner }) => `${name} on ${owner}`);
}

function violationError({ name, owner, ofDomain, definition }: UnvalidatedConstraint): string {
  if (definition.startsWith('NOT NULL')) return '"null value in column … violates not-null constraint"';
  return ofDomain
    ? `"value for domain ${owner} violates check constraint ${quoteName(name)}"`
    : `"new row for relation … violates check constraint ${quoteName(name)}"`;
}

/** When a dump is restored, a table that inherits from another gets the NOT NULL of its parent again. */
function nullableOutcome(rows: ViolationResult, found: readonly InheritedColumn[], database: string): CheckOutcome {
  const turn = (how: string) =>
    found.map(
      ({ table, column }) => `ALTER TABLE ${requoteName(table)} ALTER COLUMN ${requoteName(column)} ${how} NOT NULL`,
    );
  const observed = `${countOf(found.length, 'column')} without the NOT NULL of the parent`;
  const when = {
    violate: 'a row with NULL makes the copy fail on every attempt',
    unseen: 'a row with NULL, which was not searched for, makes the copy fail on every attempt',
    fit: 'no row contains NULL now, but a NULL written before the cut-over stops the replication',
    none: '',
  }[rows];
  const more = {
    detail: `On the target the restore adds the NOT NULL of the parent to the listed columns: ${when}: "null value in column ${quoteName(found[0]!.column)} of relation … violates not-null constraint".${unlistedNote(found)}`,
    objects: limitObjects(found).map(({ table, column }) => `${column} of ${table}`),
    headline: 'An inherited column lacks the NOT NULL of its parent',
    required: 'NOT NULL in every table that inherits a NOT NULL column',
    fix: {
      // The fix is for review: SET NOT NULL evaluates the constant parts of CHECK constraints as the role that runs the
      // statement.
      review: turn('SET'),
      undo: turn('DROP'),
      ...(rows === 'fit'
        ? { effects: [removalEffect(inheritedColumnsQuery, found)] }
        : { notSimulated: 'whether the rows satisfy NOT NULL is not known' }),
      database,
      by: 'the owner of the tables, or a superuser',
      text: 'SET NOT NULL reads each table once under an ACCESS EXCLUSIVE lock. If the server reports "contains null values", correct the rows with NULL, or DROP NOT NULL on the parent.',
    },
  };
  if (rows === 'violate') return failOutcome(['continuous', 'dump'], observed, more);
  return rows === 'fit' ? warnOutcome(observed, more) : { ...unknownOutcome(observed), ...more };
}

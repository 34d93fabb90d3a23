import { type CheckOutcome, fail, info, pass, unknown, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { alterOwner, inDoubleQuotes } from '../constraint-text.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { type NullableInheritedColumn, nullableInheritedColumnsQuery } from '../queries/constraints.ts';
import type { RowScanResult } from '../queries/row-scan.ts';
import { type UnvalidatedConstraint, unvalidatedConstraintsQuery } from '../queries/unvalidated-constraints.ts';
import { countText } from '../units.ts';

export const notValidCheck = databaseCheck({
  id: 'not-valid',
  title: 'every row satisfies every constraint',
  headline: 'A constraint is not validated for every row',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { unvalidated: unvalidatedConstraintsQuery, looserColumns: nullableInheritedColumnsQuery },
  evaluate({ unvalidated, looserColumns }, database) {
    const copied = unvalidated.filter(({ foreignKey }) => !foreignKey);
    const seen = (wanted: RowScanResult) => ({
      constraints: copied.filter(({ rows }) => rows === wanted),
      columns: looserColumns.filter(({ rows }) => rows === wanted),
    });
    const [violated, unseen] = [seen('violate'), seen('unseen')];
    if (violated.constraints.length > 0) return broken(violated.constraints, unvalidated, database);
    if (violated.columns.length > 0) return looser('violate', violated.columns, database);
    if (unseen.constraints.length > 0) return undecided(unseen.constraints, unvalidated, database);
    if (unseen.columns.length > 0) return looser('unseen', unseen.columns, database);
    if (looserColumns.length > 0) return looser('fit', looserColumns, database);
    if (unvalidated.length === 0) return pass('all');
    return info(countText(unvalidated.length, 'constraint'), {
      detail: `They are NOT VALID on the target too. Where rows would be copied, all of them fit; at a foreign key nothing looks while rows are copied.${unlistedNote(unvalidated)}`,
      objects: named(unvalidated, []),
    });
  },
});

/** On the target they hold for every row that comes. */
function broken(
  violated: readonly UnvalidatedConstraint[],
  all: readonly UnvalidatedConstraint[],
  database: string,
): CheckOutcome {
  return fail(['continuous', 'dump'], countText(violated.length, 'constraint'), {
    required: 'no row that violates one',
    detail: `NOT VALID spares the rows from before, but on the target it holds for every row that comes, and an old one that violates it ends the copy, each time it is tried: ${told(violated[0]!)}.${unlistedNote(all)}`,
    objects: named(violated, all),
    fix: {
      sql: violated.map((one) => `${alterOwner(one)} DROP CONSTRAINT IF EXISTS ${one.name}`),
      undo: violated.map((one) => `${alterOwner(one)} ADD CONSTRAINT ${one.name} ${one.definition}`),
      database,
      by: 'the owner of the tables, or a superuser',
      text: 'Mend the rows, or drop the constraints until the cut-over.',
    },
  });
}

function undecided(
  unseen: readonly UnvalidatedConstraint[],
  all: readonly UnvalidatedConstraint[],
  database: string,
): CheckOutcome {
  const drops = unseen
    .filter(({ inArrays }) => inArrays)
    .map((one) => `${alterOwner(one)} DROP CONSTRAINT ${one.name}`);
  const nested =
    drops.length === 0 ? '' : ` What a domain in arrays wants cannot be validated: ${firstObjects(drops).join('; ')}.`;
  const fix = {
    sql: unseen.filter(({ inArrays }) => !inArrays).map((one) => `${alterOwner(one)} VALIDATE CONSTRAINT ${one.name}`),
    database,
    by: 'the owner of the tables, or a superuser',
    text: `Validate them: each table is read once, and goes on being written to. Where the server refuses ("is violated by some row"), mend those rows first, or DROP CONSTRAINT until the cut-over.${nested} There is nothing to undo.`,
  };
  return {
    ...unknown(`${countText(unseen.length, 'constraint')} NOT VALID, and nobody looked whether every row fits`, fix),
    detail: `A row that violates one ends the copy, each time it is tried. Tables of more than 256 MB are not read for it, nor those that ${database} lets this role read in part only, and no function is run that somebody wrote.${unlistedNote(all)}`,
    objects: named(unseen, all),
  };
}

/** Those that matter first. */
function named(first: readonly UnvalidatedConstraint[], all: readonly UnvalidatedConstraint[]): readonly string[] {
  const others = all.filter((one) => !first.includes(one));
  return firstObjects([...first, ...others]).map(({ name, owner }) => `${name} on ${owner}`);
}

function told({ name, owner, ofDomain, definition }: UnvalidatedConstraint): string {
  if (definition.startsWith('NOT NULL')) return '"null value in column … violates not-null constraint"';
  return ofDomain
    ? `"value for domain ${owner} violates check constraint ${inDoubleQuotes(name)}"`
    : `"new row for relation … violates check constraint ${inDoubleQuotes(name)}"`;
}

/** Restored, a table that inherits has the NOT NULL of its parent again. */
function looser(rows: RowScanResult, found: readonly NullableInheritedColumn[], database: string): CheckOutcome {
  const turn = (how: string) =>
    found.map(({ table, column }) => `ALTER TABLE ${table} ALTER COLUMN ${column} ${how} NOT NULL`);
  const observed = `${countText(found.length, 'column')} without the NOT NULL of the parent`;
  const when = {
    violate: 'a row with NULL ends the copy, each time it is tried',
    unseen: 'a row with NULL, for which nobody looked, ends the copy, each time it is tried',
    fit: 'no row has NULL there now, and one that gets it before the cut-over stops the replication',
    none: '',
  }[rows];
  const more = {
    detail: `The restore gives it to them again: ${when}: "null value in column ${inDoubleQuotes(found[0]!.column)} of relation … violates not-null constraint".${unlistedNote(found)}`,
    objects: firstObjects(found).map(({ table, column }) => `${column} of ${table}`),
    required: 'NOT NULL in every table that inherits it',
    fix: {
      sql: turn('SET'),
      undo: turn('DROP'),
      database,
      by: 'the owner of the tables, or a superuser',
      text: 'Each table is read once, and is locked meanwhile. Where the server refuses ("contains null values"), mend those rows, or DROP NOT NULL of the parent.',
    },
  };
  if (rows === 'violate') return fail(['continuous', 'dump'], observed, more);
  return rows === 'fit' ? warn(observed, more) : { ...unknown(observed), ...more };
}

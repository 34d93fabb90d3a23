import { countOf } from '../../../../base/text.ts';
import { catalogOids } from '../../../../postgresql/catalog-oids.ts';
import { passOutcome, removalEffect, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { createRelationReader, type FunctionReads, type RelationRead } from '../function-body/unresolved-names.ts';
import { addConstraintSql, dropConstraintSql } from '../owner-queries.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { bodiesQuery } from '../queries/function-bodies.ts';
import { userDependentsCte } from '../queries/function-uses.ts';
import { column, columns, type RowOf, rowsQuery } from '../query.ts';

/** A CHECK constraint that calls a function of a user, on a table with rows. The function may read other tables. */
type CallingConstraint = RowOf<typeof callingConstraintsQuery>;

export const callingConstraintsQuery = rowsQuery({
  id: 'function-calling-constraints',
  scope: 'database',
  when: featureCondition('called-functions'),
  sql: (version) => `
     ${userDependentsCte}
    SELECT DISTINCT
      d.calls,
      quote_ident(k.conname) AS conname,
      c.oid::regclass AS name,
      n.nspname,
      c.relname,
      pg_get_constraintdef(k.oid) AS definition
    FROM d
    JOIN pg_constraint k ON k.oid = d.objid
    JOIN pg_class c ON c.oid = k.conrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE d.classid = '${catalogOids.pg_constraint}'
      AND k.contype = 'c'
      AND c.relkind = 'r'
      AND c.relpersistence = 'p'
      AND (c.relpages > 0 OR pg_relation_size(c.oid) > 0)${version < 180_000 ? '' : ' AND k.conenforced'}
  `,
  row: columns({
    /** Object id of the function that the constraint calls. */
    calls: column.text('calls'),
    /** Quoted. */
    name: column.text('conname'),
    /** Qualified and quoted. */
    table: column.text('name'),
    schema: column.text('nspname'),
    /** Not quoted. */
    relation: column.text('relname'),
    definition: column.text('definition'),
  }),
});

export const readingChecksCheck = declareDatabaseCheck({
  id: 'reading-checks',
  title: 'no CHECK constraint reads rows that are copied later',
  headline: 'A CHECK constraint can read rows that are copied later',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { callingChecks: callingConstraintsQuery, functionBodies: bodiesQuery },
  evaluate({ callingChecks, functionBodies }, database) {
    const found = circularChecks(callingChecks, createRelationReader(functionBodies));
    const [first] = found;
    if (first === undefined) return passOutcome('none');
    return {
      ...unknownOutcome(`${countOf(found.length, 'constraint')}, and it is not known whether the rows satisfy them`),
      premise: 'no CHECK constraint requires rows that are copied later',
      required: 'no CHECK constraint that reads its own table, or a table whose CHECK constraint reads this table',
      detail: `A CHECK constraint is evaluated for every copied row, when the rows that its function reads may not be copied yet; rows of its own table that are copied together are not visible to the constraint. If the constraint requires such rows, the copy fails on every attempt: "new row for relation … violates check constraint ${first.name}". If the constraint requires that such rows do not exist, the copy succeeds.${unlistedNote(found)}`,
      objects: limitObjects(found).map(({ name, table, definition }) => `${name} on ${table} ${definition}`),
      fix: {
        sql: found.map((one) => dropConstraintSql({ ...one, owner: one.table, ofDomain: false })),
        undoReview: found.map((one) => addConstraintSql({ ...one, owner: one.table, ofDomain: false })),
        effects: [removalEffect(callingConstraintsQuery, found)],
        database,
        by: 'the owner of the tables, or a superuser',
        text: 'Drop the CHECK constraints until the cut-over, or replace them with a trigger, which does not fire during the copy. Run `cloudctl db rehearse` to see whether the rows satisfy the CHECK constraints.',
      },
    };
  },
});

/**
 * The copy of a table whose constraint needs the rows of another table succeeds on a later attempt, unless both tables
 * wait for each other.
 */
function circularChecks(
  checks: readonly CallingConstraint[],
  reach: (oid: string) => FunctionReads,
): readonly CallingConstraint[] {
  const byFunction = new Map([...new Set(checks.map(({ calls }) => calls))].map((oid) => [oid, reach(oid).reads]));
  const read = new Map(
    checks.map((check) => [check, checks.filter((other) => names(byFunction.get(check.calls) ?? [], other))]),
  );
  return checks.filter((check) => {
    // The loop also visits elements that are added to the set during the iteration.
    const reached = new Set(read.get(check));
    for (const one of reached) for (const next of read.get(one) ?? []) reached.add(next);
    return [...reached].some(({ table }) => table === check.table);
  });
}

function names(reads: readonly RelationRead[], { schema, relation }: CallingConstraint): boolean {
  return reads.some((one) => one.name === relation && (one.schema ?? schema) === schema);
}

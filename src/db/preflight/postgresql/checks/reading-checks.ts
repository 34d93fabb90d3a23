import { countOf } from '../../../../base/text.ts';
import { catalogOids } from '../../../../postgresql/catalog-oids.ts';
import { passOutcome, removalEffect, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import type { RelationRead } from '../function-body/unresolved-names.ts';
import { addConstraintSql, dropConstraintSql, suggestConstraintQueries } from '../owner-queries.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { bodiesQuery } from '../queries/function-bodies.ts';
import { userDependentsCte } from '../queries/function-uses.ts';
import { column, columns, rowsQuery } from '../query.ts';
import { composesQuery, createRowReader, isCatalog } from './reading-functions.ts';

/** CHECK constraints that call a function of a user, on a table with rows. */
export const callingConstraintsQuery = rowsQuery({
  id: 'function-calling-constraints',
  scope: 'database',
  when: featureCondition('called-functions'),
  sql: (version) => `
     ${userDependentsCte}
    SELECT
      array_agg(DISTINCT d.calls::text) AS calls,
      quote_ident(k.conname) AS conname,
      c.oid::regclass AS name,
      k.coninhcount > 0 AS inherited,
      pg_get_constraintdef(k.oid) AS definition
    FROM d
    JOIN pg_constraint k ON k.oid = d.objid
    JOIN pg_class c ON c.oid = k.conrelid
    WHERE d.classid = '${catalogOids.pg_constraint}'
      AND k.contype = 'c'
      AND c.relkind = 'r'
      AND c.relpersistence = 'p'
      AND (c.relpages > 0 OR pg_relation_size(c.oid) > 0)${version < 180_000 ? '' : ' AND k.conenforced'}
    GROUP BY k.oid, k.conname, k.coninhcount, c.oid
    ORDER BY 3, 2
  `,
  row: columns({
    /** Object ids of the functions that the constraint calls. */
    calls: column.texts('calls'),
    /** Quoted. */
    name: column.text('conname'),
    /** Qualified and quoted. */
    table: column.text('name'),
    definition: column.text('definition'),
    /** Whether the constraint comes from a parent, where alone it can be dropped. */
    inherited: column.boolean('inherited'),
  }),
});

export const readingChecksCheck = declareDatabaseCheck({
  id: 'reading-checks',
  title: 'no CHECK constraint reads rows of a table',
  headline: 'A CHECK constraint reads rows that can have changed since, or are copied later',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { callingChecks: callingConstraintsQuery, functionBodies: bodiesQuery },
  evaluate({ callingChecks, functionBodies }, database) {
    const rowsOf = createRowReader(functionBodies);
    const reading = callingChecks.flatMap((constraint) => {
      const reached = constraint.calls.map(rowsOf);
      const reads = reached.flatMap((one) => one.reads).filter((read) => !isCatalog(read));
      const composes = reached.some(({ bodies }) =>
        bodies.some(({ text, bound }) => composesQuery(`${text} ${bound}`)),
      );
      return reads.length === 0 && !composes ? [] : [{ constraint, reads }];
    });
    const found = reading.map(({ constraint }) => ({ ...constraint, owner: constraint.table, ofDomain: false }));
    const [first] = found;
    if (first === undefined) return passOutcome('none');
    const relations = [...new Set(reading.flatMap(({ reads }) => reads.map(nameOf)))];
    // A constraint of a partition goes with that of the partitioned table.
    const own = reading.flatMap(({ constraint }) => (constraint.inherited ? [] : [constraint]));
    const named = own.map((one) => ({ ...one, owner: one.table, ofDomain: false }));
    return {
      ...unknownOutcome(`${countOf(found.length, 'constraint')}, and it is not known whether the rows satisfy them`),
      premise: 'every row satisfies its CHECK constraint with the rows that were copied before it',
      required: 'no CHECK constraint that reads rows of a table',
      detail: `A CHECK constraint is not evaluated again when the rows change that its function reads${relations.length === 0 ? '' : ` (${limitObjects(relations).join(', ')})`}. The target evaluates it for every copied row: rows that the function needs may have been deleted since, or are copied later. Those of its own table, and of materialized views and unlogged tables, never come in time: "new row for relation … violates check constraint ${first.name}", and the copy fails on every attempt.${unlistedNote(found)}${suggestConstraintQueries(found)}`,
      objects: limitObjects(found).map(({ name, table, definition }) => `${name} on ${table} ${definition}`),
      fix: {
        sql: named.map(dropConstraintSql),
        undoReview: named.map(addConstraintSql),
        effects: [removalEffect(callingConstraintsQuery, own)],
        database,
        by: 'the owner of the tables, or a superuser',
        text: 'Drop the CHECK constraints until the cut-over (inherited ones on the parent), or replace them with a trigger, which does not fire during the copy. Run `cloudctl db rehearse` to see whether the rows satisfy the CHECK constraints.',
      },
    };
  },
});

function nameOf({ schema, name }: RelationRead): string {
  return schema === undefined ? name : `${schema}.${name}`;
}

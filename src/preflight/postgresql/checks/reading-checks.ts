import { pass, unknown } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { addConstraintNotValid, dropConstraint } from '../constraint-text.ts';
import { createRelationReads, type RelationRead } from '../function-body/relation-reads.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { functionBodiesQuery } from '../queries/function-bodies.ts';
import {
  type FunctionCallingConstraint,
  functionCallingConstraintsQuery,
} from '../queries/function-calling-constraints.ts';

import { countText } from '../units.ts';

export const readingChecksCheck = databaseCheck({
  id: 'reading-checks',
  title: 'no CHECK constraint reads rows that are copied later',
  headline: 'A CHECK constraint can read rows that are copied later',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { callingChecks: functionCallingConstraintsQuery, functionBodies: functionBodiesQuery },
  evaluate({ callingChecks, functionBodies }, database) {
    const found = inCircles(callingChecks, createRelationReads(functionBodies));
    const [first] = found;
    if (first === undefined) return pass(callingChecks.length === 0 ? 'none calls a function' : 'none');
    return {
      ...unknown(`${countText(found.length, 'constraint')}, and nobody can tell whether the rows pass`),
      required: 'none that reads its own table, or one whose CHECK reads this one',
      detail: `A CHECK is asked for every row that is copied, when the rows that its function reads are not there yet; of its own table it sees none of the same copy. One that wants them there ends the copy, each time it is tried: "new row for relation … violates check constraint ${first.name}". One that wants them away passes.${unlistedNote(found)}`,
      objects: firstObjects(found).map(({ name, table, definition }) => `${name} on ${table} ${definition}`),
      fix: {
        sql: found.map((one) => dropConstraint({ ...one, owner: one.table, ofDomain: false })),
        undo: found.map((one) => addConstraintNotValid({ ...one, owner: one.table, ofDomain: false })),
        database,
        by: 'the owner of the tables, or a superuser',
        text: 'Drop them until the cut-over, or for good in favour of a trigger, which does not fire while rows are copied. `cloudctl db rehearse` shows whether they pass.',
      },
    };
  },
});

/** What another table must have first is there in the end, since a copy that failed is tried again; not where both wait. */
function inCircles(
  checks: readonly FunctionCallingConstraint[],
  reads: (oid: string) => readonly RelationRead[],
): readonly FunctionCallingConstraint[] {
  const byFunction = new Map([...new Set(checks.map(({ calls }) => calls))].map((oid) => [oid, reads(oid)]));
  const read = new Map(
    checks.map((check) => [check, checks.filter((other) => names(byFunction.get(check.calls) ?? [], other))]),
  );
  return checks.filter((check) => {
    // A set is walked with what is added meanwhile.
    const reached = new Set(read.get(check));
    for (const one of reached) for (const next of read.get(one) ?? []) reached.add(next);
    return [...reached].some(({ table }) => table === check.table);
  });
}

function names(reads: readonly RelationRead[], { schema, relation }: FunctionCallingConstraint): boolean {
  return reads.some((one) => one.name === relation && (one.schema ?? schema) === schema);
}

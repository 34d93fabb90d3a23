import { pass, unknown } from '../finding.ts';
import { functionBodies } from './asks/evaluated-functions.ts';
import { type CallingCheck, callingChecks } from './asks/reading-checks.ts';
import { type Read, readsOf } from './body/reads.ts';
import { databaseCheck } from './check.ts';
import { shown, unlisted } from './names.ts';
import { count } from './units.ts';

export const readingChecks = databaseCheck({
  id: 'reading-checks',
  title: 'no CHECK looks for rows that come after the row',
  asks: { callingChecks, functionBodies },
  judge({ callingChecks, functionBodies }, database) {
    const found = inCircles(callingChecks, readsOf(functionBodies));
    const [first] = found;
    if (first === undefined) return pass(callingChecks.length === 0 ? 'none calls a function' : 'none');
    return {
      ...unknown(`${count(found.length, 'constraint')}, and nobody can tell whether the rows pass`),
      required: 'none that reads its own table, or one whose CHECK reads this one',
      detail: `A CHECK is asked for every row that is copied, when the rows that its function reads are not there yet; of its own table it sees none of the same copy. One that wants them there ends the copy, each time it is tried: "new row for relation … violates check constraint ${first.name}". One that wants them away passes.${unlisted(found)}`,
      objects: shown(found).map(({ name, table, definition }) => `${name} on ${table} ${definition}`),
      fix: {
        sql: found.map(({ name, table }) => `ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${name}`),
        undo: found.map(
          ({ name, table, definition }) =>
            `ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition.replace(/ NOT VALID$/, '')} NOT VALID`,
        ),
        database,
        by: 'the owner of the tables, or a superuser',
        text: 'Drop them until the cut-over, or for good in favour of a trigger, which does not fire while rows are copied. `cloudctl db rehearse` shows whether they pass.',
      },
    };
  },
});

/** What another table must have first is there in the end, since a copy that failed is tried again; not where both wait. */
function inCircles(checks: readonly CallingCheck[], reads: (oid: string) => readonly Read[]): readonly CallingCheck[] {
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

function names(reads: readonly Read[], { schema, relation }: CallingCheck): boolean {
  return reads.some((one) => one.name === relation && (one.schema ?? schema) === schema);
}

import { fail, pass } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { addConstraintNotValid, dropConstraint, inDoubleQuotes } from '../constraint-text.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { type TimeDependentConstraint, timeDependentConstraintsQuery } from '../queries/constraints.ts';
import { countText } from '../units.ts';

export const timeChecksCheck = databaseCheck({
  id: 'time-checks',
  title: 'no CHECK constraint requires a future timestamp',
  headline: 'A CHECK constraint requires a future timestamp',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { clockChecks: timeDependentConstraintsQuery },
  evaluate({ clockChecks }, database) {
    const found = clockChecks.filter(wantsFuture);
    if (found.length === 0) return pass(clockChecks.length === 0 ? 'none' : 'those that ask the clock look back');
    return fail(['continuous', 'dump'], countText(found.length, 'constraint'), {
      required: 'none, where there are rows',
      detail: `A CHECK holds for a row when it is written, here and again on the target: a row whose time has come meanwhile ends the copy, each time it is tried: "new row for relation … violates check constraint ${inDoubleQuotes(found[0]!.name)}".${unlistedNote(found)}`,
      objects: firstObjects(found).map(({ name, owner, definition }) => `${name} on ${owner} ${definition}`),
      fix: {
        sql: found.map(dropConstraint),
        undo: found.map(addConstraintNotValid),
        database,
        by: 'the owner of the tables, or a superuser',
        text: 'Drop them until the cut-over, or for good in favour of a trigger, which does not fire while rows are copied. Where every row lies in the future and stays there for two weeks, --accept time-checks.',
      },
    });
  },
});

/** As the server writes it: the clock is what the other side is greater than. Written the other way round it looks back. */
function wantsFuture({ definition }: TimeDependentConstraint): boolean {
  return new RegExp(`>=? *\\(*${clock}|${clock}(?:(?!\\b(?:AND|OR)\\b)[^<>=])*<=?(?![>@])`).test(definition);
}

const clock =
  '(?:(?:now|(?:transaction|statement|clock)_timestamp)\\(\\)|\\b(?:CURRENT_(?:DATE|TIME|TIMESTAMP)|LOCALTIME(?:STAMP)?)\\b)';

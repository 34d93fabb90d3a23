import { countOf } from '../../../../base/text.ts';
import { failOutcome, passOutcome, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { dropConstraintsFix, quoteName, suggestConstraintQueries } from '../owner-queries.ts';

import { clockConstraintsQuery, type NamedConstraint } from '../queries/constraints.ts';

export const timeChecksCheck = declareDatabaseCheck({
  id: 'time-checks',
  title: 'no CHECK constraint requires a future timestamp',
  headline: 'A CHECK constraint requires a future timestamp',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { clockChecks: clockConstraintsQuery },
  evaluate({ clockChecks }, database) {
    const found = clockChecks.filter(requiresFuture);
    if (found.length === 0)
      return passOutcome(
        clockChecks.length === 0 ? 'none' : 'constraints use the current time, but none requires a future time',
      );
    // A row that satisfies another condition of an OR need not have a future time.
    const certain = found.filter(({ definition, rows }) => rows !== 'fit' && !/\bOR\b/.test(definition));
    const named = certain.length > 0 ? certain : found;
    const observed = countOf(named.length, 'constraint');
    const more = {
      required: 'no such constraint in tables with rows',
      detail: `A CHECK constraint is evaluated when a row is written, and again on the target. A row whose time is no longer in the future makes the copy fail on every attempt: "new row for relation … violates check constraint ${quoteName(named[0]!.name)}".${unlistedNote(named)}`,
      objects: limitObjects(named).map(({ name, owner, definition }) => `${name} on ${owner} ${definition}`),
      fix: dropConstraintsFix(
        clockConstraintsQuery,
        named,
        database,
        'Drop the CHECK constraints until the cut-over, or replace them with a trigger, which does not fire during the copy. If the time of every row stays in the future for the next two weeks, use --accept time-checks.',
      ),
    };
    if (certain.length > 0) return failOutcome(['continuous', 'dump'], observed, more);
    return {
      ...unknownOutcome(`${observed}; it is not known whether every row satisfies the constraints`),
      ...more,
      premise: 'every row satisfies the CHECK constraints for the next two weeks',
      detail: `${more.detail}${suggestConstraintQueries(named)}`,
    };
  },
});

/** Whether the text of the constraint from pg_get_constraintdef requires a value greater than the current time. */
export function requiresFuture({ definition }: Pick<NamedConstraint, 'definition'>): boolean {
  // The result of a comparison may be an operand of another comparison: `(a < now()) = b`, `(a < now())::integer < 2`.
  const others = definition.replace(new RegExp(`<=?(?![>@])(?:(?!\\b(?:AND|OR)\\b)[^<>=])*${clock}`, 'g'), '');
  if (new RegExp(`>=? *\\(*${clock}`).test(others)) return true;
  // Each operand is read once, not from every call in it to its end.
  return [...others.matchAll(/([^<>=]*)(?:(<=?(?![>@]))|[<>=]|$)/g)].some(
    ([, operand = '', less]) =>
      less !== undefined && new RegExp(clock).test(operand.split(/\b(?:AND|OR)\b/).at(-1) ?? ''),
  );
}

const clock =
  '(?:(?:now|(?:transaction|statement|clock)_timestamp)\\(\\)|\\b(?:CURRENT_(?:DATE|TIME|TIMESTAMP)|LOCALTIME(?:STAMP)?)\\b)';

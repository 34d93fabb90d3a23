import { countOf } from '../../../base/text.ts';
import { failOutcome, passOutcome } from '../../finding.ts';
import { declareDatabasePreflightCheck } from '../check.ts';
import { buildUnlistedObjectsNote, limitFindingObjects } from '../listed-objects.ts';
import { nonImmutableCallsQuery } from '../queries/non-immutable-calls.ts';

export const mutableCallsCheck = declareDatabasePreflightCheck({
  id: 'mutable-calls',
  title: 'indexes, generated columns and partition keys call only immutable functions',
  headline: 'An index, a generated column or a partition key calls a function that is not immutable',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { mutableCalls: nonImmutableCallsQuery },
  evaluate({ mutableCalls }, database) {
    if (mutableCalls.length === 0) return passOutcome('all');
    const objects = [...new Set(mutableCalls.map(({ object }) => object))];
    const here = mutableCalls.filter((one) => one.where === 'here').map(({ calls }) => calls);
    const made = mutableCalls.filter((one) => one.where !== 'here').map(({ calls }) => calls);
    const texts = [
      ...(here.length === 0
        ? []
        : [
            `If a function that you wrote always returns the same result, declare the function as IMMUTABLE again: ALTER FUNCTION ${here[0]} IMMUTABLE.`,
          ]),
      ...(made.length === 0
        ? []
        : [
            `Create a wrapper function that is IMMUTABLE and calls ${made[0]} by its qualified name, and re-create the indexes and columns with it.`,
          ]),
      'As an alternative, drop the listed objects before the migration, and create them on the target after the functions are IMMUTABLE on the target too.',
    ];
    return failOutcome(['continuous', 'dump'], countOf(objects.length, 'object'), {
      required: 'functions that are IMMUTABLE on every server',
      detail: `${made.length === 0 ? 'The called functions were IMMUTABLE when the listed objects were created, but no longer are' : 'A dump does not contain ALTER FUNCTION … IMMUTABLE of a function that belongs to the system or an extension'}, so the schema cannot be restored: "functions in index expression must be marked IMMUTABLE", "generation expression is not immutable".${buildUnlistedObjectsNote(objects)}`,
      objects: limitFindingObjects(mutableCalls).map(({ object, calls }) => `${object} (${calls})`),
      fix: { database, by: 'the owner of the tables, or a superuser', text: texts.join(' ') },
    });
  },
});

import { fail, pass } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { nonImmutableCallsQuery } from '../queries/non-immutable-calls.ts';
import { countText } from '../units.ts';

export const mutableCallsCheck = databaseCheck({
  id: 'mutable-calls',
  title: 'indexes, generated columns and partition keys call only immutable functions',
  headline: 'An index, a generated column or a partition key calls a function that is not immutable',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { mutableCalls: nonImmutableCallsQuery },
  evaluate({ mutableCalls }, database) {
    if (mutableCalls.length === 0) return pass('all');
    const objects = [...new Set(mutableCalls.map(({ object }) => object))];
    const here = mutableCalls.filter((one) => one.where === 'here').map(({ calls }) => calls);
    const made = mutableCalls.filter((one) => one.where !== 'here').map(({ calls }) => calls);
    const cures = [
      ...(here.length === 0
        ? []
        : [
            `Those that are immutable in truth can be called so again: ALTER FUNCTION ${here[0]} IMMUTABLE, where no extension brought them.`,
          ]),
      ...(made.length === 0
        ? []
        : [
            `Write a function of your own that is IMMUTABLE and calls ${made[0]} by its full name, and make the indexes and columns anew with that.`,
          ]),
      'Or drop them before the migration, and make them on the target when its functions are altered as well.',
    ];
    return fail(['continuous', 'dump'], countText(objects.length, 'object'), {
      required: 'functions that are IMMUTABLE on every server',
      detail: `${made.length === 0 ? 'The functions were immutable when these were made, and are not any more' : 'ALTER FUNCTION … IMMUTABLE of a function that the system or an extension brings is in no dump'}, so that the schema cannot be made: "functions in index expression must be marked IMMUTABLE", "generation expression is not immutable".${unlistedNote(objects)}`,
      objects: firstObjects(mutableCalls).map(({ object, calls }) => `${object} (${calls})`),
      fix: { database, by: 'the owner of the tables, or a superuser', text: cures.join(' ') },
    });
  },
});

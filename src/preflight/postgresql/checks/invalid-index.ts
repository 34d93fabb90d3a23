import { quoteLiteral } from '../../../postgresql/quote.ts';
import { pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { type InvalidIndex, invalidIndexesQuery } from '../queries/invalid-indexes.ts';
import { countText } from '../units.ts';

export const invalidIndexCheck = databaseCheck({
  id: 'invalid-index',
  title: 'every index is valid',
  headline: 'An index is invalid',
  severity: { continuous: 'warning', dump: 'warning' },
  queries: { invalidIndexes: invalidIndexesQuery },
  evaluate({ invalidIndexes }, database, { connection }) {
    if (invalidIndexes.length === 0) return pass('all');
    const isOld = connection.kind === 'entered' && connection.version < 120_000;
    const busy = invalidIndexes.filter((index) => index.busy);
    const uniques = invalidIndexes.filter((index) => index.unique && !index.busy && !isRemains(index));
    const curable = invalidIndexes.filter((index) => !index.busy && !uniques.includes(index));
    return warn(countText(invalidIndexes.length, 'index', 'indexes'), {
      required: 'none',
      detail: `What CREATE INDEX or REINDEX CONCURRENTLY left when it broke off, or is building now. It is left out on the target, and nothing fails there${uniques.length === 0 ? '' : '; a unique one often broke off because the rows hold duplicates, and the target does not refuse them either'}.${unlistedNote(invalidIndexes)}`,
      objects: firstObjects(invalidIndexes).map(
        ({ name, table, unique }) => `${name} on ${table}${unique ? ' (unique)' : ''}`,
      ),
      fix: {
        ...(curable.length === 0 ? {} : { sql: curable.map((index) => cureOf(index, isOld)) }),
        database,
        by: 'the owner of the tables, or a superuser',
        text: `Build it again, or drop it: names that end in _ccnew or _ccold are only remains. ${uniques.length === 0 ? '' : `A unique one is built only where no duplicates are left: remove them and REINDEX, or DROP INDEX (${firstObjects(uniques.map(({ name }) => name)).join(', ')}).${unlistedNote(uniques)} `}${busy.length === 0 ? '' : `At work just now, and left alone (ask again when it is done): ${firstObjects(busy.map(({ name }) => name)).join(', ')}.${unlistedNote(busy)} `}There is nothing to undo.`,
      },
    });
  },
});

/**
 * Without CONCURRENTLY writers wait: so before 12, and always for an exclusion constraint. A unique index is not built here: over
 * duplicates it fails, which ends the whole script and leaves another invalid one.
 */
function cureOf(index: InvalidIndex, isOld: boolean): string {
  const { name, exclusion } = index;
  if (isRemains(index)) return droppingRemains(name);
  return `REINDEX INDEX ${exclusion || isOld ? '' : 'CONCURRENTLY '}${name}`;
}

/**
 * A REINDEX CONCURRENTLY that runs has such an index too, and would be waited for with every writer of the table behind; it
 * holds a lock on the index itself. What is valid by now is nobody's remains.
 */
function droppingRemains(name: string): string {
  const held =
    "SELECT FROM pg_locks l WHERE l.relation = i.indexrelid AND l.mode = 'ShareUpdateExclusiveLock' AND l.granted AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())";
  const idle = `SELECT FROM pg_index i WHERE i.indexrelid = to_regclass(${quoteLiteral(name)}) AND NOT i.indisvalid AND NOT EXISTS (${held})`;
  return `DO ${quoteLiteral(`BEGIN IF EXISTS (${idle}) THEN DROP INDEX ${name}; END IF; END`)}`;
}

function isRemains({ name }: InvalidIndex): boolean {
  return /_cc(new|old)\d*"?$/.test(name);
}

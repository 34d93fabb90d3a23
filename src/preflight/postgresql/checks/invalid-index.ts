import { quoteLiteral } from '../../../postgresql/quote.ts';
import { requoteQualifiedName } from '../../../postgresql/requote.ts';
import { pass, warn } from '../../finding.ts';
import { removesResultRows } from '../../fix-effect.ts';
import { databaseCheck } from '../check.ts';
import { firstListedObjects, unlistedNote } from '../object-list.ts';
import { type InvalidIndex, invalidIndexesQuery } from '../queries/invalid-indexes.ts';
import { pluralize } from '../units.ts';

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
    const fixable = invalidIndexes.filter((index) => !index.busy && !uniques.includes(index));
    return warn(pluralize(invalidIndexes.length, 'index', 'indexes'), {
      required: 'none',
      detail: `The index is the remains of a failed CREATE INDEX or REINDEX CONCURRENTLY, or is being built now. It is not migrated, without an error${uniques.length === 0 ? '' : '; a unique index is often invalid because of duplicate rows, and the target does not reject duplicates either'}.${unlistedNote(invalidIndexes)}`,
      objects: firstListedObjects(invalidIndexes).map(
        ({ name, table, unique }) => `${name} on ${table}${unique ? ' (unique)' : ''}`,
      ),
      fix: {
        ...(fixable.length === 0
          ? {}
          : {
              sql: fixable.map((index) => fixStatement(index, isOld)),
              effects: [removesResultRows(invalidIndexesQuery, fixable)],
            }),
        database,
        by: 'the owner of the tables, or a superuser',
        text: `Rebuild the index or drop it; names that end in _ccnew or _ccold are remains of a rebuild. ${uniques.length === 0 ? '' : `A unique index can be rebuilt only without duplicate rows: remove them and REINDEX, or DROP INDEX (${firstListedObjects(uniques.map(({ name }) => name)).join(', ')}).${unlistedNote(uniques)} `}${busy.length === 0 ? '' : `Being built now and not changed (check again afterwards): ${firstListedObjects(busy.map(({ name }) => name)).join(', ')}.${unlistedNote(busy)} `}The fix needs no undo.`,
      },
    });
  },
});

/**
 * REINDEX without CONCURRENTLY blocks writers; it is needed before 12 and for exclusion constraints. Unique indexes are not
 * rebuilt here: duplicate rows would make the statement fail, end the script and leave another invalid index.
 */
function fixStatement(index: InvalidIndex, isOld: boolean): string {
  const { name, exclusion } = index;
  if (isRemains(index)) return dropRemains(name);
  return `REINDEX INDEX ${exclusion || isOld ? '' : 'CONCURRENTLY '}${requoteQualifiedName(name)}`;
}

/**
 * A running REINDEX CONCURRENTLY also has such an index and holds a lock on it; DROP INDEX would wait for it and block all
 * writers of the table. So the statement drops the index only if it is still invalid and not locked.
 */
function dropRemains(name: string): string {
  const held =
    "SELECT FROM pg_locks l WHERE l.relation = i.indexrelid AND l.mode = 'ShareUpdateExclusiveLock' AND l.granted AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())";
  const idle = `SELECT FROM pg_index i WHERE i.indexrelid = to_regclass(${quoteLiteral(requoteQualifiedName(name))}) AND NOT i.indisvalid AND NOT EXISTS (${held})`;
  return `DO ${quoteLiteral(`BEGIN IF EXISTS (${idle}) THEN DROP INDEX ${requoteQualifiedName(name)}; END IF; END`)}`;
}

function isRemains({ name }: InvalidIndex): boolean {
  return /_cc(new|old)\d*"?$/.test(name);
}

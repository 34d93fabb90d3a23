import { countOf } from '../../../../base/text.ts';
import { schemaOids } from '../../../../postgresql/catalog-oids.ts';
import { doStatement, quoteLiteral, requoteName } from '../../../../postgresql/quote.ts';
import { passOutcome, removalEffect, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { column, columns, type RowOf, rowsQuery } from '../query.ts';

/**
 * An invalid index: it is updated but never read, and is the result of an interrupted CREATE INDEX or REINDEX
 * CONCURRENTLY.
 */
type InvalidIndex = RowOf<typeof invalidIndexesQuery>;

/**
 * An index of a partitioned table is left out: it is invalid until every partition has its own index, which is
 * harmless.
 */
export const invalidIndexesQuery = rowsQuery({
  id: 'invalid-indexes',
  scope: 'database',
  when: featureCondition('invalid-indexes'),
  sql: () => `
    SELECT
      i.indexrelid::regclass AS name,
      i.indrelid::regclass AS on_table,
      i.indisunique,
      i.indisexclusion,
      EXISTS (
        SELECT FROM pg_locks l
        WHERE l.mode = 'ShareUpdateExclusiveLock'
          AND l.granted
          AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
          AND (l.relation = i.indexrelid OR l.relation = i.indrelid)
      ) AS busy
    FROM pg_index i
    WHERE NOT i.indisvalid
      AND EXISTS (
        SELECT FROM pg_class c
        WHERE c.oid = i.indexrelid
          AND c.relkind = 'i'
          AND c.relnamespace <> '${schemaOids.pg_toast}'
          AND c.relpersistence <> 't'
      )
  `,
  row: columns({
    name: column.text('name'),
    table: column.text('on_table'),
    unique: column.boolean('indisunique'),
    /** Whether the index belongs to an exclusion constraint: REINDEX CONCURRENTLY does not support such an index. */
    exclusion: column.boolean('indisexclusion'),
    /** Whether a session holds the lock of CREATE INDEX or REINDEX, so that the index may become valid. */
    busy: column.boolean('busy'),
  }),
});

export const invalidIndexCheck = declareDatabaseCheck({
  id: 'invalid-index',
  title: 'every index is valid',
  headline: 'An index is invalid',
  severity: { continuous: 'warning', dump: 'warning' },
  queries: { invalidIndexes: invalidIndexesQuery },
  evaluate({ invalidIndexes }, database, { connection }) {
    if (invalidIndexes.length === 0) return passOutcome('all');
    const isOld = connection.kind === 'entered' && connection.version < 120_000;
    const busy = invalidIndexes.filter((index) => index.busy);
    const uniques = invalidIndexes.filter((index) => index.unique && !index.busy && !isRemains(index));
    const fixable = invalidIndexes.filter((index) => !index.busy && !uniques.includes(index));
    return warnOutcome(countOf(invalidIndexes.length, 'index', 'indexes'), {
      required: 'none',
      detail: `An invalid index remains after a failed CREATE INDEX CONCURRENTLY or REINDEX CONCURRENTLY, or is being built now. An invalid index is left out of the migration without an error${uniques.length === 0 ? '' : '; a unique index is often invalid because of duplicate rows, and the target does not reject duplicates either'}.${unlistedNote(invalidIndexes)}`,
      objects: limitObjects(invalidIndexes).map(
        ({ name, table, unique }) => `${name} on ${table}${unique ? ' (unique)' : ''}`,
      ),
      fix: {
        ...(fixable.length === 0
          ? {}
          : {
              sql: fixable.map((index) => fixStatement(index, isOld)),
              effects: [removalEffect(invalidIndexesQuery, fixable)],
            }),
        database,
        by: 'the owner of the tables, or a superuser',
        text: `Rebuild the index or drop it; an index whose name ends in _ccnew or _ccold remains from a rebuild. ${uniques.length === 0 ? '' : `A unique index can be rebuilt only without duplicate rows: remove the duplicates and run REINDEX, or run DROP INDEX (${limitObjects(uniques.map(({ name }) => name)).join(', ')}).${unlistedNote(uniques)} `}${busy.length === 0 ? '' : `Indexes that are being built now, which the fix does not change (check again afterwards): ${limitObjects(busy.map(({ name }) => name)).join(', ')}.${unlistedNote(busy)} `}The fix needs no undo.`,
      },
    });
  },
});

/**
 * REINDEX without CONCURRENTLY blocks writers; it is used only before PostgreSQL 12 and for exclusion constraints. The
 * fix does not rebuild unique indexes, because duplicate rows would make the statement fail, end the script and leave
 * another invalid index.
 */
function fixStatement(index: InvalidIndex, isOld: boolean): string {
  const { name, exclusion } = index;
  if (isRemains(index)) return dropRemains(name);
  return `REINDEX INDEX ${exclusion || isOld ? '' : 'CONCURRENTLY '}${requoteName(name)}`;
}

/**
 * A running REINDEX CONCURRENTLY also creates an invalid index and holds a lock on it; DROP INDEX would wait for that
 * lock and block all writers of the table. Therefore the fix drops an index only if the index is still invalid and not
 * locked.
 */
function dropRemains(name: string): string {
  const held =
    "SELECT FROM pg_locks l WHERE l.relation = i.indexrelid AND l.mode = 'ShareUpdateExclusiveLock' AND l.granted AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())";
  const idle = `SELECT FROM pg_index i WHERE i.indexrelid = to_regclass(${quoteLiteral(requoteName(name))}) AND NOT i.indisvalid AND NOT EXISTS (${held})`;
  return doStatement(`IF EXISTS (${idle}) THEN DROP INDEX ${requoteName(name)}; END IF`);
}

function isRemains({ name }: InvalidIndex): boolean {
  return /_cc(new|old)\d*"?$/.test(name);
}

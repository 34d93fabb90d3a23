import { countOf } from '../../../../base/text.ts';
import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { containingTypesSql } from '../queries/row-scan.ts';
import { column, columns, rowsQuery } from '../query.ts';

/**
 * Tables whose columns have another order on the target: CREATE TABLE … INHERITS puts the columns of the parents first, in
 * their order. On the source a column that the parent got later is the last one, and ALTER TABLE … INHERIT keeps the order.
 * Partitions are created by themselves and attached. Tables that inherit from such a table follow it.
 */
const reorderedTablesQuery = rowsQuery({
  id: 'reordered-tables',
  scope: 'database',
  when: featureCondition('heirs'),
  sql: (version) => `
    WITH RECURSIVE ranked AS (
      SELECT
        a.attrelid,
        a.attnum,
        coalesce(
          min(ARRAY[i.inhseqno, p.attnum::int]) FILTER (WHERE p.attnum IS NOT NULL),
          '{2147483647,0}'
        ) AS place
      FROM pg_inherits i
      JOIN pg_class c ON c.oid = i.inhrelid AND c.relkind = 'r'${version < 100_000 ? '' : ' AND NOT c.relispartition'}
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_attribute p ON p.attrelid = i.inhparent
        AND p.attname = a.attname
        AND p.attnum > 0
        AND NOT p.attisdropped
      GROUP BY a.attrelid, a.attnum
    ), moved(rel) AS (
      SELECT o.attrelid
      FROM (
        SELECT attrelid, place, lag(place) OVER (PARTITION BY attrelid ORDER BY attnum) AS earlier
        FROM ranked
      ) o
      WHERE o.earlier > o.place
      UNION
      SELECT i.inhrelid
      FROM moved
      JOIN pg_inherits i ON i.inhparent = moved.rel
    ), holding(rel, type) AS (
      SELECT moved.rel, c.reltype
      FROM moved
      JOIN pg_class c ON c.oid = moved.rel
      UNION
      SELECT holding.rel, h.whole
      FROM holding
      JOIN (${containingTypesSql(version)}) h ON h.part = holding.type
    )
    SELECT
      moved.rel::regclass AS name,
      ARRAY(
        SELECT c.oid::regclass || '.' || quote_ident(a.attname)
        FROM holding
        JOIN pg_attribute a ON a.atttypid = holding.type AND a.attnum > 0 AND NOT a.attisdropped
        JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r' AND c.relpersistence <> 't'
        WHERE holding.rel = moved.rel AND c.oid >= '${firstNormalOid}'
        ORDER BY 1
      ) AS columns
    FROM moved
    ORDER BY 1
  `,
  row: columns({
    table: column.text('name'),
    /** Columns that contain the row type of the table, qualified. */
    columns: column.texts('columns'),
  }),
});

export const columnOrderCheck = declareDatabaseCheck({
  id: 'column-order',
  title: 'the columns of tables that inherit keep their order',
  headline: 'The columns of a table have another order on the target',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { tables: reorderedTablesQuery },
  evaluate({ tables }, database) {
    if (tables.length === 0) return passOutcome('none');
    const held = tables.flatMap(({ table, columns: all }) => all.map((name) => `${name} (row type of ${table})`));
    const named = held.length === 0 ? tables.map(({ table }) => table) : held;
    const more = {
      required: 'the columns of the parents first, in their order',
      detail: `CREATE TABLE … INHERITS puts the columns of the parents first; on the source they come later, because the parent got them later or the table was made its child later.${held.length === 0 ? '' : ' The text of a row has its values without names, so the values of these columns get into other fields, or are refused.'} INSERT without a list of columns, and functions with such statements, write other columns after the cut-over.${unlistedNote(named)}`,
      objects: limitObjects(named),
      fix: {
        database,
        by: 'the owner of the tables',
        text: 'Create the tables anew with CREATE TABLE … INHERITS, so that the order is the same on both servers, or name the columns in every INSERT. To keep values of a row type, store them as jsonb (to_jsonb) before the migration.',
      },
    };
    const observed = countOf(tables.length, 'table');
    if (held.length === 0) return warnOutcome(observed, more);
    return {
      ...unknownOutcome(`${observed} of which ${countOf(held.length, 'column has', 'columns have')} the row type`),
      ...more,
      premise: 'the columns with such a row type have no values',
    };
  },
});

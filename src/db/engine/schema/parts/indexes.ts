import { joinArrays, type ObjectQuery, textArray, userRelations } from '../object.ts';

/** Indexes without a constraint. Invalid indexes are left out, as pg_dump does, and reported by obstacles.ts. */
export const indexesQuery: ObjectQuery = {
  kind: 'index',
  sql: () => `SELECT 'pg_class:' || x.oid AS id, format('index %s.%s', n.nspname, x.relname) AS name,
      ${textArray(`'pg_class:' || c.oid`)} AS depends_on,
      ${joinArrays(`ARRAY[pg_get_indexdef(x.oid)]`, statisticsTargetStatements)} AS statements
    FROM ${userRelations('rpm')} JOIN pg_index i ON i.indrelid = c.oid JOIN pg_class x ON x.oid = i.indexrelid
    WHERE (i.indisvalid OR c.relkind = 'p') AND i.indisready
      AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = x.oid AND k.contype IN ('p', 'u', 'x'))`,
};

const statisticsTargetStatements = `ARRAY(SELECT format('ALTER INDEX %I.%I ALTER COLUMN %s SET STATISTICS %s', n.nspname, x.relname,
    a.attnum, a.attstattarget)
  FROM pg_attribute a WHERE a.attrelid = x.oid AND a.attstattarget >= 0 AND NOT a.attisdropped ORDER BY a.attnum)`;

export const indexPartitionsQuery: ObjectQuery = {
  kind: 'index partition',
  sql: () => `SELECT 'attach:' || x.oid AS id, format('index %s.%s', xn.nspname, x.relname) AS name,
      ${textArray(`'pg_class:' || x.oid`, `'pg_class:' || p.oid`)} AS depends_on,
      ${textArray(`format('ALTER INDEX %I.%I ATTACH PARTITION %I.%I', pn.nspname, p.relname, xn.nspname, x.relname)`)}
        AS statements
    FROM ${userRelations('rp')} JOIN pg_index i ON i.indrelid = c.oid
    JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_namespace xn ON xn.oid = x.relnamespace
    JOIN pg_inherits h ON h.inhrelid = x.oid
    JOIN pg_class p ON p.oid = h.inhparent JOIN pg_namespace pn ON pn.oid = p.relnamespace`,
};

/** Replica identity, clustered index and row-level security of a table. */
export const tableSettingsQuery: ObjectQuery = {
  kind: 'setting',
  sql: () => `SELECT 'settings:' || c.oid AS id, format('settings of %s.%s', n.nspname, c.relname) AS name,
      (SELECT array_agg(need) FROM (SELECT 'pg_class:' || c.oid UNION ALL
        SELECT 'pg_class:' || i.indexrelid FROM pg_index i WHERE i.indrelid = c.oid) AS x(need)) AS depends_on,
      ${joinArrays(`ARRAY[
        CASE c.relreplident WHEN 'f' THEN ${alterTable(`'REPLICA IDENTITY FULL'`)}
          WHEN 'n' THEN ${alterTable(`'REPLICA IDENTITY NOTHING'`)}
          WHEN 'i' THEN ${alterTable(`(SELECT format('REPLICA IDENTITY USING INDEX %I', x.relname) FROM pg_index i
            JOIN pg_class x ON x.oid = i.indexrelid WHERE i.indrelid = c.oid AND i.indisreplident)`)} END,
        ${alterTable(`(SELECT format('CLUSTER ON %I', x.relname) FROM pg_index i
          JOIN pg_class x ON x.oid = i.indexrelid WHERE i.indrelid = c.oid AND i.indisclustered)`)},
        CASE WHEN c.relrowsecurity THEN ${alterTable(`'ENABLE ROW LEVEL SECURITY'`)} END,
        CASE WHEN c.relforcerowsecurity THEN ${alterTable(`'FORCE ROW LEVEL SECURITY'`)} END]`)} AS statements
    FROM ${userRelations('rpm')}`,
};

/** SQL expression for an ALTER statement; it is NULL when the expression `what` is NULL. */
function alterTable(what: string): string {
  return `format('ALTER %s ', CASE c.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE ONLY' END)
    || format('%I.%I ', n.nspname, c.relname) || ${what}`;
}

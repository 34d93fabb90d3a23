import { list, lists, relations } from '../clauses.ts';
import type { PartQuestion } from '../part.ts';

/** Those that belong to no constraint. What was never finished is left out, as pg_dump does; notes.ts says so. */
export const indexes: PartQuestion = {
  kind: 'index',
  text: () => `SELECT 'pg_class:' || x.oid AS id, format('index %s.%s', n.nspname, x.relname) AS name,
      ${list(`'pg_class:' || c.oid`)} AS needs,
      ${lists(`ARRAY[pg_get_indexdef(x.oid)]`, targets)} AS statements
    FROM ${relations('rpm')} JOIN pg_index i ON i.indrelid = c.oid JOIN pg_class x ON x.oid = i.indexrelid
    WHERE (i.indisvalid OR c.relkind = 'p') AND i.indisready
      AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = x.oid AND k.contype IN ('p', 'u', 'x'))`,
};

const targets = `ARRAY(SELECT format('ALTER INDEX %I.%I ALTER COLUMN %s SET STATISTICS %s', n.nspname, x.relname,
    a.attnum, a.attstattarget)
  FROM pg_attribute a WHERE a.attrelid = x.oid AND a.attstattarget >= 0 AND NOT a.attisdropped ORDER BY a.attnum)`;

export const indexPartitions: PartQuestion = {
  kind: 'index partition',
  text: () => `SELECT 'attach:' || x.oid AS id, format('index %s.%s', xn.nspname, x.relname) AS name,
      ${list(`'pg_class:' || x.oid`, `'pg_class:' || p.oid`)} AS needs,
      ${list(`format('ALTER INDEX %I.%I ATTACH PARTITION %I.%I', pn.nspname, p.relname, xn.nspname, x.relname)`)}
        AS statements
    FROM ${relations('rp')} JOIN pg_index i ON i.indrelid = c.oid
    JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_namespace xn ON xn.oid = x.relnamespace
    JOIN pg_inherits h ON h.inhrelid = x.oid
    JOIN pg_class p ON p.oid = h.inhparent JOIN pg_namespace pn ON pn.oid = p.relnamespace`,
};

/** What a table says of its indexes and of its rows: replica identity, the index to cluster on, row-level security. */
export const tableSettings: PartQuestion = {
  kind: 'setting',
  text: () => `SELECT 'settings:' || c.oid AS id, format('settings of %s.%s', n.nspname, c.relname) AS name,
      (SELECT json_agg(need) FROM (SELECT 'pg_class:' || c.oid UNION ALL
        SELECT 'pg_class:' || i.indexrelid FROM pg_index i WHERE i.indrelid = c.oid) AS x(need)) AS needs,
      ${lists(`ARRAY[
        CASE c.relreplident WHEN 'f' THEN ${alter(`'REPLICA IDENTITY FULL'`)}
          WHEN 'n' THEN ${alter(`'REPLICA IDENTITY NOTHING'`)}
          WHEN 'i' THEN ${alter(`(SELECT format('REPLICA IDENTITY USING INDEX %I', x.relname) FROM pg_index i
            JOIN pg_class x ON x.oid = i.indexrelid WHERE i.indrelid = c.oid AND i.indisreplident)`)} END,
        ${alter(`(SELECT format('CLUSTER ON %I', x.relname) FROM pg_index i
          JOIN pg_class x ON x.oid = i.indexrelid WHERE i.indrelid = c.oid AND i.indisclustered)`)},
        CASE WHEN c.relrowsecurity THEN ${alter(`'ENABLE ROW LEVEL SECURITY'`)} END,
        CASE WHEN c.relforcerowsecurity THEN ${alter(`'FORCE ROW LEVEL SECURITY'`)} END]`)} AS statements
    FROM ${relations('rpm')}`,
};

/** Null when there is nothing to say. */
function alter(what: string): string {
  return `format('ALTER %s ', CASE c.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE ONLY' END)
    || format('%I.%I ', n.nspname, c.relname) || ${what}`;
}

import { joinArrays, type ObjectQuery, storageParameters, userRelations, type Versions } from '../object.ts';

import { columnDefinitions, columnSettings, identityStatements, notNullStatements } from './columns.ts';

/**
 * A table with its columns. A partition is created alone and then attached, so that it keeps its column order. Defaults,
 * checks, keys and indexes are separate parts, because their functions may need the table.
 */
export const tablesQuery: ObjectQuery = {
  kind: 'table',
  sql: (versions) => `SELECT 'pg_class:' || c.oid AS id, format('table %s.%s', n.nspname, c.relname) AS name,
      (SELECT array_agg('pg_class:' || i.inhparent) FROM pg_inherits i WHERE i.inhrelid = c.oid) AS depends_on,
      ${joinArrays(
        `ARRAY[${createTable(versions)}, ${attachPartition}, ${typedTable}, ${toastOptions}]`,
        identityStatements(),
        notNullStatements(versions),
      )} AS statements
    FROM ${userRelations('rp')}`,
};

/**
 * Statements for column settings, which run after all tables are created: child tables would otherwise inherit the settings.
 */
export const columnSettingsQuery: ObjectQuery = {
  kind: 'setting',
  sql: (versions) => `SELECT 'columns:' || c.oid AS id, format('columns of %s.%s', n.nspname, c.relname) AS name,
      (SELECT array_agg(need) FROM (SELECT 'pg_class:' || c.oid UNION ALL
        SELECT 'pg_class:' || inhrelid FROM pg_inherits WHERE inhparent = c.oid) AS x(need)) AS depends_on,
      ${joinArrays(columnSettings(versions))} AS statements
    FROM ${userRelations('rpm')}`,
};

function createTable(versions: Versions): string {
  // From PostgreSQL 18 on, a partitioned table cannot be UNLOGGED.
  const unlogged = `c.relpersistence = 'u'${versions.to >= 180_000 ? ` AND c.relkind <> 'p'` : ''}`;
  return `format('CREATE %sTABLE %I.%I (%s)%s%s%s%s', CASE WHEN ${unlogged} THEN 'UNLOGGED ' ELSE '' END,
    n.nspname, c.relname, ${columnDefinitions(versions)}, ${inheritsClause},
    CASE c.relkind WHEN 'p' THEN ' PARTITION BY ' || pg_get_partkeydef(c.oid) ELSE '' END,
    coalesce((SELECT format(' USING %I', m.amname) FROM pg_am m WHERE m.oid = c.relam AND m.amname <> 'heap'), ''),
    coalesce(' WITH (' || ${storageParameters('c.reloptions')} || ')', ''))`;
}

const inheritsClause = `CASE WHEN c.relispartition THEN '' ELSE coalesce((SELECT format(' INHERITS (%s)',
    string_agg(format('%I.%I', pn.nspname, p.relname), ', ' ORDER BY i.inhseqno))
  FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent JOIN pg_namespace pn ON pn.oid = p.relnamespace
  WHERE i.inhrelid = c.oid HAVING count(*) > 0), '') END`;

const attachPartition = `CASE WHEN c.relispartition THEN (SELECT format('ALTER TABLE ONLY %I.%I ATTACH PARTITION %I.%I %s',
    pn.nspname, p.relname, n.nspname, c.relname, pg_get_expr(c.relpartbound, c.oid))
  FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent JOIN pg_namespace pn ON pn.oid = p.relnamespace
  WHERE i.inhrelid = c.oid) END`;

const typedTable = `CASE WHEN c.reloftype <> 0 THEN
  format('ALTER TABLE ONLY %I.%I OF %s', n.nspname, c.relname, format_type(c.reloftype, NULL)) END`;

const toastOptions = `(SELECT format('ALTER TABLE ONLY %I.%I SET (%s)', n.nspname, c.relname,
  ${storageParameters('toast.reloptions', 'toast.')}) FROM pg_class toast
  WHERE toast.oid = c.reltoastrelid AND toast.reloptions IS NOT NULL)`;

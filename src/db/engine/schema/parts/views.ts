import { type ObjectQuery, storageParameters, textArray, userRelations } from '../object.ts';

export const viewsQuery: ObjectQuery = {
  kind: 'view',
  sql: () => `SELECT 'pg_class:' || c.oid AS id, format('view %s.%s', n.nspname, c.relname) AS name,
      ${textArray(`format('CREATE VIEW %I.%I%s AS %s', n.nspname, c.relname,
        coalesce(' WITH (' || ${storageParameters('c.reloptions')} || ')', ''), pg_get_viewdef(c.oid))`)} AS statements
    FROM ${userRelations('v')}`,
};

/** Materialized views WITH NO DATA. The views are refreshed when the rows of their tables have been copied. */
export const materializedViewsQuery: ObjectQuery = {
  kind: 'view',
  sql: () => `SELECT 'pg_class:' || c.oid AS id, format('materialized view %s.%s', n.nspname, c.relname) AS name,
      ${textArray(`format('CREATE MATERIALIZED VIEW %I.%I%s%s AS %s WITH NO DATA', n.nspname, c.relname,
        coalesce((SELECT format(' USING %I', m.amname) FROM pg_am m WHERE m.oid = c.relam AND m.amname <> 'heap'), ''),
        coalesce(' WITH (' || ${storageParameters('c.reloptions')} || ')', ''), rtrim(pg_get_viewdef(c.oid), ';'))`)}
        AS statements
    FROM ${userRelations('m')}`,
};

/** Column defaults of tables and views. Generated columns have their expression in CREATE TABLE. */
export const defaultsQuery: ObjectQuery = {
  kind: 'default',
  sql: () => `SELECT 'pg_attrdef:' || d.oid AS id, format('default of %s.%s.%s', n.nspname, c.relname, a.attname) AS name,
      ${textArray(`'pg_class:' || c.oid`)} AS depends_on,
      ${textArray(`format('ALTER TABLE ONLY %I.%I ALTER COLUMN %I SET DEFAULT %s', n.nspname, c.relname, a.attname,
        pg_get_expr(d.adbin, d.adrelid))`)} AS statements
    FROM ${userRelations('rpv')} JOIN pg_attrdef d ON d.adrelid = c.oid
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.adnum AND a.attgenerated = ''`,
};

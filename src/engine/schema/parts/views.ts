import { list, relations, storageOptions } from '../clauses.ts';
import type { PartQuestion } from '../part.ts';

export const views: PartQuestion = {
  kind: 'view',
  text: () => `SELECT 'pg_class:' || c.oid AS id, format('view %s.%s', n.nspname, c.relname) AS name,
      ${list(`format('CREATE VIEW %I.%I%s AS %s', n.nspname, c.relname,
        coalesce(' WITH (' || ${storageOptions('c.reloptions')} || ')', ''), pg_get_viewdef(c.oid))`)} AS statements
    FROM ${relations('v')}`,
};

/** Empty: rows come with a REFRESH when those they are made of have arrived. */
export const materializedViews: PartQuestion = {
  kind: 'view',
  text: () => `SELECT 'pg_class:' || c.oid AS id, format('materialized view %s.%s', n.nspname, c.relname) AS name,
      ${list(`format('CREATE MATERIALIZED VIEW %I.%I%s%s AS %s WITH NO DATA', n.nspname, c.relname,
        coalesce((SELECT format(' USING %I', m.amname) FROM pg_am m WHERE m.oid = c.relam AND m.amname <> 'heap'), ''),
        coalesce(' WITH (' || ${storageOptions('c.reloptions')} || ')', ''), rtrim(pg_get_viewdef(c.oid), ';'))`)}
        AS statements
    FROM ${relations('m')}`,
};

/** Of tables and of views; computed columns have theirs in the table. */
export const defaults: PartQuestion = {
  kind: 'default',
  text: () => `SELECT 'pg_attrdef:' || d.oid AS id, format('default of %s.%s.%s', n.nspname, c.relname, a.attname) AS name,
      ${list(`'pg_class:' || c.oid`)} AS needs,
      ${list(`format('ALTER TABLE ONLY %I.%I ALTER COLUMN %I SET DEFAULT %s', n.nspname, c.relname, a.attname,
        pg_get_expr(d.adbin, d.adrelid))`)} AS statements
    FROM ${relations('rpv')} JOIN pg_attrdef d ON d.adrelid = c.oid
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.adnum AND a.attgenerated = ''`,
};

import type { SchemaObjectDefinitionQuery } from '../schema-object-definition.ts';
import {
  buildNonNullTextArraySql,
  storageParametersExpressionSql,
  userRelationsFromClauseSql,
} from '../sql-fragments.ts';

export const viewCreationStatementsQuery: SchemaObjectDefinitionQuery = {
  kind: 'view',
  sql: () => `SELECT 'pg_class:' || c.oid AS id, format('view %s.%s', n.nspname, c.relname) AS name,
      ${buildNonNullTextArraySql(`format('CREATE VIEW %I.%I%s AS %s', n.nspname, c.relname,
        coalesce(' WITH (' || ${storageParametersExpressionSql('c.reloptions')} || ')', ''), pg_get_viewdef(c.oid))`)} AS statements
    FROM ${userRelationsFromClauseSql('v')}`,
};

/** Materialized views WITH NO DATA. The views are refreshed when the rows of their tables have been copied. */
export const materializedViewCreationStatementsQuery: SchemaObjectDefinitionQuery = {
  kind: 'view',
  sql: () => `SELECT 'pg_class:' || c.oid AS id, format('materialized view %s.%s', n.nspname, c.relname) AS name,
      ${buildNonNullTextArraySql(`format('CREATE MATERIALIZED VIEW %I.%I%s%s AS %s WITH NO DATA', n.nspname, c.relname,
        coalesce((SELECT format(' USING %I', m.amname) FROM pg_am m WHERE m.oid = c.relam AND m.amname <> 'heap'), ''),
        coalesce(' WITH (' || ${storageParametersExpressionSql('c.reloptions')} || ')', ''), rtrim(pg_get_viewdef(c.oid), ';'))`)}
        AS statements
    FROM ${userRelationsFromClauseSql('m')}`,
};

/** Column defaults of tables and views. Generated columns have their expression in CREATE TABLE. */
export const columnDefaultCreationStatementsQuery: SchemaObjectDefinitionQuery = {
  kind: 'default',
  sql: () => `SELECT 'pg_attrdef:' || d.oid AS id, format('default of %s.%s.%s', n.nspname, c.relname, a.attname) AS name,
      ${buildNonNullTextArraySql(`'pg_class:' || c.oid`)} AS depends_on,
      ${buildNonNullTextArraySql(`format('ALTER TABLE ONLY %I.%I ALTER COLUMN %I SET DEFAULT %s', n.nspname, c.relname, a.attname,
        pg_get_expr(d.adbin, d.adrelid))`)} AS statements
    FROM ${userRelationsFromClauseSql('rpv')} JOIN pg_attrdef d ON d.adrelid = c.oid
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.adnum AND a.attgenerated = ''`,
};

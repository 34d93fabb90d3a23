import { catalogOids, firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { decodeOptionalText, decodeText } from '../../../../postgresql/rows.ts';
import type { PostgresqlQuery } from '../query.ts';
import { isChangedCastSql, isNotMemberSql, misplacedTableSql } from './catalog-predicates.ts';
import { featureCondition } from './database-overview.ts';

/** An object of a user in a system schema, other than a table; a dump does not contain it. */
export interface SystemSchemaObject {
  /** The object, as pg_describe_object formats it: `function text(integer)`. */
  readonly name: string;
  /**
   * An object outside of the system schemas that depends on the object of the user: `cast from integer to text`;
   * undefined if there is none.
   */
  readonly user: string | undefined;
}

const inSystem = `
  IN (SELECT s.oid FROM pg_namespace s WHERE s.nspname = 'information_schema' OR s.nspname = 'pg_catalog')
`;

/**
 * Row types and array types are left out, because they are created with their tables and element types. Collations of
 * pg_catalog are left out, because initdb may have created them from those of the operating system.
 */
const lost = [
  `
    SELECT '${catalogOids.pg_proc}'::oid AS class, p.oid
    FROM pg_proc p
    WHERE p.oid >= '${firstNormalOid}'
      AND p.pronamespace ${inSystem}
  `,
  `
    SELECT '${catalogOids.pg_operator}', p.oid
    FROM pg_operator p
    WHERE p.oid >= '${firstNormalOid}'
      AND p.oprnamespace ${inSystem}
  `,
  `
    SELECT '${catalogOids.pg_type}', p.oid
    FROM pg_type p
    WHERE p.oid >= '${firstNormalOid}'
      AND p.typnamespace ${inSystem}
      AND p.typrelid = '0'
      AND p.typcategory <> 'A'
  `,
  `
    SELECT '${catalogOids.pg_class}', p.oid
    FROM pg_class p
    WHERE p.oid >= '${firstNormalOid}'
      AND p.relnamespace ${inSystem}
      AND p.relkind IN ('v', 'm', 'S', 'f')
  `,
].join(' UNION ALL ');

export const systemObjectsQuery: PostgresqlQuery<readonly SystemSchemaObject[]> = {
  id: 'system-schema-objects',
  scope: 'database',
  when: featureCondition('system-objects'),
  sql: () => `
    WITH a AS (${lost}),
    l AS (
      SELECT a.*
      FROM a
      WHERE NOT EXISTS (
        SELECT FROM pg_depend e
        WHERE e.classid = a.class
          AND e.objid = a.oid
          AND (e.deptype = 'e' OR (a.class = '${catalogOids.pg_type}' AND e.deptype = 'i'))
      )
    )
    SELECT
      pg_describe_object(l.class, l.oid, 0) AS name,
      (
        SELECT min(pg_describe_object(d.classid, d.objid, d.objsubid))
        FROM pg_depend d
        WHERE d.refclassid = l.class
          AND d.refobjid = l.oid
          AND d.deptype = 'n'
          AND NOT EXISTS (
            SELECT FROM l o
            WHERE (o.class = d.classid AND o.oid = d.objid)
              OR (
                d.classid = '${catalogOids.pg_rewrite}'
                  AND o.class = '${catalogOids.pg_class}'
                  AND o.oid = (SELECT r.ev_class FROM pg_rewrite r WHERE r.oid = d.objid)
              )
          )
      ) AS used_by
    FROM l
    ORDER BY 1
  `,
  decode: (rows) => rows.map((row) => ({ name: decodeText(row, 'name'), user: decodeOptionalText(row, 'used_by') })),
  absent: [],
};

/** Casts of PostgreSQL itself whose row in pg_cast was changed: `UPDATE pg_cast SET castcontext = 'i'`. */
export const changedCastsQuery: PostgresqlQuery<readonly string[]> = {
  id: 'changed-casts',
  scope: 'database',
  when: featureCondition('changed-casts'),
  sql: () => `
    SELECT pg_describe_object('${catalogOids.pg_cast}', c.oid, 0) AS name
    FROM pg_cast c
    WHERE ${isChangedCastSql}
    ORDER BY 1
  `,
  decode: (rows) => rows.map((row) => decodeText(row, 'name')),
  absent: [],
};

/** A table of a user in a system schema. */
export interface SystemSchemaTable {
  readonly name: string;
  readonly schema: string;
  /** The name of the table after ALTER TABLE … SET SCHEMA public. */
  readonly moved: string;
}

/** Tables of extensions are left out, because CREATE EXTENSION creates them on the target as well. */
export const systemTablesQuery: PostgresqlQuery<readonly SystemSchemaTable[]> = {
  id: 'system-schema-tables',
  scope: 'database',
  when: featureCondition('system-tables'),
  sql: () => `
    SELECT
      quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name,
      quote_ident(n.nspname) AS schema,
      'public.' || quote_ident(c.relname) AS moved
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE ${misplacedTableSql}
      AND ${isNotMemberSql('pg_class', 'c.oid')}
  `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeText(row, 'name'),
      schema: decodeText(row, 'schema'),
      moved: decodeText(row, 'moved'),
    })),
  absent: [],
};

import { catalogOids, firstNormalOid, firstSuperuserOid } from '../../../../postgresql/catalog-oids.ts';
import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import { decodeBoolean, decodeNumber, decodeText } from '../../../../postgresql/rows.ts';
import { column, type PostgresqlQuery, rowsQuery } from '../query.ts';
import { featureCondition } from './database-overview.ts';

/** The GRANT statement that allows a role to read what only members of the monitoring roles can read. */
export function monitorGrant(user: string): string {
  return `GRANT pg_monitor, pg_read_all_settings TO ${quoteIdentifier(user)}`;
}

/**
 * The GRANT statement for a catalog object that PUBLIC can read by default, used after that privilege was revoked,
 * because the monitoring roles do not include it. undefined if the error message names no such object, or is not in
 * English.
 */
export function catalogGrant(message: string, user: string): string | undefined {
  const [, kind, name] = /^permission denied for (schema|table|view|relation) (pg_\w+)$/.exec(message) ?? [];
  if (kind === undefined || name === undefined || notPublic.has(name)) return undefined;
  const right = kind === 'schema' ? `USAGE ON SCHEMA ${name}` : `SELECT ON pg_catalog.${name}`;
  return `GRANT ${right} TO ${quoteIdentifier(user)}`;
}

/**
 * Views for which GRANT SELECT is not sufficient, because a role also needs EXECUTE on a function. The queries of these
 * views define their own GRANT statement.
 */
const notPublic: ReadonlySet<string> = new Set(['pg_file_settings', 'pg_hba_file_rules']);

/** Names of databases. */
interface SharedAccess {
  /** Databases that a role other than the first superuser owns, or in which such a role owns an object. */
  readonly owned: ReadonlySet<string>;
  /** Databases with privileges or settings of their own, or all if a role has settings. */
  readonly configured: ReadonlySet<string>;
}

/** Which databases have an entry about access in the shared catalogs: one query for all of them. */
export const sharedAccessQuery: PostgresqlQuery<SharedAccess> = {
  id: 'shared-access',
  scope: 'server',
  sql: () => `
    SELECT
      d.datname,
      d.datdba <> '${firstSuperuserOid}'
        OR EXISTS (SELECT FROM pg_shdepend s WHERE s.dbid = d.oid AND s.deptype = 'o') AS is_owned,
      d.datacl IS NOT NULL
        OR EXISTS (SELECT FROM pg_db_role_setting s WHERE s.setdatabase IN (d.oid, '0')) AS is_configured
    FROM pg_database d
  `,
  decode: (rows) => {
    const names = (flag: string) =>
      new Set(rows.filter((row) => decodeBoolean(row, flag)).map((row) => decodeText(row, 'datname')));
    return { owned: names('is_owned'), configured: names('is_configured') };
  },
  absent: { owned: new Set(), configured: new Set() },
};

/** The maximum number of large objects that are counted; more would not change the fix. */
export const largeObjectLimit = 100_000;

export const largeObjectsQuery: PostgresqlQuery<number> = {
  id: 'large-objects',
  scope: 'database',
  when: featureCondition('large-objects'),
  sql: () => `
    SELECT count(*) AS objects
    FROM (SELECT FROM pg_largeobject_metadata LIMIT ${largeObjectLimit + 1}) o
  `,
  decode: ([row = {}]) => decodeNumber(row, 'objects'),
  absent: 0,
};

/** Object ids of large objects that the role cannot read; pg_read_all_data does not include large objects. */
export const unreadableLargeObjectsQuery = rowsQuery({
  id: 'unreadable-large-objects',
  scope: 'database',
  when: featureCondition('large-objects'),
  sql: (_version, { superuser }) =>
    superuser
      ? undefined
      : `
        SELECT m.oid
        FROM pg_largeobject_metadata m
        WHERE current_setting('lo_compat_privileges') = 'off'
          AND NOT pg_has_role(m.lomowner, 'USAGE')
          AND NOT EXISTS (
            SELECT FROM aclexplode(m.lomacl) p
            WHERE p.privilege_type = 'SELECT'
              AND (p.grantee = 0 OR pg_has_role(p.grantee, 'USAGE'))
          )
        ORDER BY m.oid
        LIMIT ${largeObjectLimit}
      `,
  row: column.text('oid'),
});

/** An object that pg_dump reads, but that the role may not read. */
export interface UnreadableObject {
  readonly kind: 'table' | 'sequence';
  readonly name: string;
  /** Quoted. */
  readonly schema: string;
  /** Whether the role has USAGE on the schema of the object. */
  readonly usage: boolean;
  /** Whether the role has SELECT on the object. */
  readonly select: boolean;
}

/**
 * At most 1,000 objects are listed since PostgreSQL 14, in which one grant (pg_read_all_data) allows the role to read
 * all of them.
 */
export interface UnreadableObjects {
  readonly objects: readonly UnreadableObject[];
  readonly tables: number;
  readonly sequences: number;
}

/**
 * pg_dump locks every table and reads the rows of tables and sequences. Of materialized views and foreign tables
 * pg_dump reads only the definition, and of extensions only the tables that they declare as configuration.
 */
export const unreadableObjectsQuery: PostgresqlQuery<UnreadableObjects> = {
  id: 'unreadable-objects',
  scope: 'database',
  sql: (version, { superuser }) =>
    superuser
      ? undefined
      : `
        SELECT
          c.relkind = 'S' AS sequence,
          count(*) FILTER (WHERE c.relkind <> 'S') OVER () AS tables,
          count(*) FILTER (WHERE c.relkind = 'S') OVER () AS sequences,
          c.oid::regclass AS name,
          c.relnamespace::regnamespace AS schema,
          has_schema_privilege(c.relnamespace, 'USAGE') AS usage,
          ${mayRead} AS "select"
        FROM pg_class c
        WHERE c.oid >= '${firstNormalOid}'
          AND c.relkind IN ('r', 'p', 'S')
          AND c.relpersistence <> 't'
          AND NOT (${mayRead} AND has_schema_privilege(c.relnamespace, 'USAGE'))
          AND NOT EXISTS (
            SELECT FROM pg_depend d
            JOIN pg_extension e ON e.oid = d.refobjid
            WHERE d.classid = '${catalogOids.pg_class}'
              AND d.objid = c.oid
              AND d.refclassid = '${catalogOids.pg_extension}'
              AND d.deptype = 'e'
              AND (e.extconfig IS NULL OR c.oid <> ALL (e.extconfig))
          )${version < 140_000 ? '' : ' LIMIT 1000'}
      `,
  decode: (rows) => ({
    objects: rows.map((row) => ({
      kind: decodeBoolean(row, 'sequence') ? 'sequence' : 'table',
      name: decodeText(row, 'name'),
      schema: decodeText(row, 'schema'),
      usage: decodeBoolean(row, 'usage'),
      select: decodeBoolean(row, 'select'),
    })),
    tables: decodeNumber(rows[0] ?? {}, 'tables'),
    sequences: decodeNumber(rows[0] ?? {}, 'sequences'),
  }),
  absent: { objects: [], tables: 0, sequences: 0 },
};

const mayRead = `
  CASE c.relkind
    WHEN 'S' THEN has_sequence_privilege(c.oid, 'SELECT')
    ELSE has_table_privilege(c.oid, 'SELECT')
  END
`;

import { countOf } from '../../../../base/text.ts';
import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { decodeText } from '../../../../postgresql/rows.ts';
import { failOutcome, infoOutcome, passOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { databasesQuery } from '../queries/cluster.ts';
import type { PostgresqlQuery } from '../query.ts';

/** A row of a system catalog that refers to an object which does not exist. */
interface DanglingReference {
  /** The object of the catalog row: `public.t`, or `function 16402` when it has no name. */
  readonly object: string;
  /** `schema 16401`. */
  readonly lost: string;
}

/**
 * The maximum number of databases in which the query is sent: it costs the new server process in each database a few
 * milliseconds.
 */
export const maxDanglingDatabases = 50;

/** Rows of system catalogs that refer to a missing object; undefined if they were not queried. */
export const danglingReferencesQuery: PostgresqlQuery<readonly DanglingReference[] | undefined> = {
  id: 'dangling-references',
  scope: 'database',
  sql: () => `
    SELECT *
    FROM (
      ${[
        named(
          "'schema ' || c.relnamespace",
          'c.relname',
          `pg_class c WHERE ${lostClass('c.relnamespace', 'pg_namespace')}`,
        ),
        named("'role ' || c.relowner", 'c.relname', `pg_class c WHERE ${lostClass('c.relowner', 'pg_roles')}`),
        named(
          "'type ' || a.atttypid",
          "c.relname || '.' || a.attname",
          `pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE ${lostType}`,
        ),
        named("'columns'", 'c.relname', `pg_class c WHERE ${shortClass}`),
        named(
          "'schema ' || p.pronamespace",
          'p.proname',
          `pg_proc p WHERE ${lostFunction('p.pronamespace', 'pg_namespace')}`,
        ),
        named("'role ' || p.proowner", 'p.proname', `pg_proc p WHERE ${lostFunction('p.proowner', 'pg_roles')}`),
        named("'function ' || t.tgfoid", 't.tgname', `pg_trigger t WHERE ${lostTrigger}`),
        named("'index ' || i.indexrelid", 'i.indrelid::regclass', `pg_index i WHERE ${lostIndex}`),
        named("'role'", "r.polrelid::regclass || ' policy ' || r.polname", `pg_policy r WHERE ${lostPolicy}`),
        named("'rule'", 'c.relname', `pg_class c WHERE ${lostRule}`),
        named("'check'", 'c.relname', `pg_class c WHERE ${lostCheck}`),
      ].join(' UNION ALL ')}
    ) o
    ORDER BY 1, 2
    LIMIT 1000
  `,
  when: (known) => (known(databasesQuery)?.length ?? 0) <= maxDanglingDatabases,
  decode: (rows) => rows.map((row) => ({ object: decodeText(row, 'object'), lost: decodeText(row, 'lost') })),
  absent: undefined,
};

function named(lost: string, object: string, from: string): string {
  return `SELECT (${object})::text AS object, (${lost})::text AS lost FROM ${from}`;
}

function lostClass(column: string, table: string): string {
  return `c.oid >= '${firstNormalOid}' AND c.relpersistence <> 't' AND ${notIn(column, table)}`;
}

function lostFunction(column: string, table: string): string {
  return `p.oid >= '${firstNormalOid}' AND ${notIn(column, table)}`;
}

const lostType = `
  a.attrelid >= '${firstNormalOid}'
    AND a.atttypid >= '${firstNormalOid}'
    AND ${notIn('a.atttypid', 'pg_type')}
`;
const shortClass = `
  c.oid >= '${firstNormalOid}'
    AND c.relkind <> 't'
    AND c.relpersistence <> 't'
    AND c.relnatts <> (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > '0')
`;
const lostTrigger = `t.tgfoid >= '${firstNormalOid}' AND ${notIn('t.tgfoid', 'pg_proc')}`;
/** Condition for a table whose index is missing in pg_class: the table exists, but every write to it fails. */
const lostIndex = `
  i.indrelid >= '${firstNormalOid}'
    AND i.indexrelid NOT IN (SELECT oid FROM pg_class)
    AND i.indrelid IN (SELECT oid FROM pg_class)
`;
/** The grantee 0 in an access control list is PUBLIC. */
const lostPolicy = "EXISTS (SELECT FROM unnest(r.polroles) x WHERE x <> '0' AND x NOT IN (SELECT oid FROM pg_roles))";
const lostRule = `
  c.oid >= '${firstNormalOid}'
    AND (c.relkind = 'v' OR c.relkind = 'm')
    AND c.oid NOT IN (SELECT ev_class FROM pg_rewrite)
`;
const lostCheck = `
  c.oid >= '${firstNormalOid}'
    AND c.relchecks > '0'
    AND c.relchecks <> (SELECT count(*) FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c')
`;

function notIn(column: string, table: string): string {
  return `${column} NOT IN (SELECT oid FROM ${table})`;
}

export const lostCatalogRowsCheck = declareDatabaseCheck({
  id: 'lost-rows',
  title: 'the system catalogs have no dangling references',
  headline: 'The system catalogs have dangling references',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { lostRows: danglingReferencesQuery },
  evaluate({ lostRows }) {
    if (lostRows === undefined)
      return infoOutcome(`not checked with more than ${maxDanglingDatabases} databases`, {
        headline: 'The system catalogs were not checked for dangling references',
      });
    if (lostRows.length === 0) return passOutcome('none');
    const objects = lostRows.map(({ object, lost }) => `${object} without its ${lost}`);
    return failOutcome(['continuous', 'dump'], countOf(lostRows.length, 'object'), {
      required: 'no reference to a missing object',
      detail: `Rows of the system catalogs are missing, because they were deleted manually or storage is damaged. The server continues with cached entries, but pg_dump fails: "schema with OID … does not exist", "cache lookup failed".${unlistedNote(objects)}`,
      objects: limitObjects(objects),
      fix: {
        by: 'a superuser, after a backup of the data directory',
        text: 'Run pg_dump --schema-only to find the object at which it fails. Drop the listed objects, re-create the objects that are missing (for a role: CREATE ROLE, then ALTER … OWNER TO), or restore the database from a backup and migrate the restored database.',
      },
    });
  },
});

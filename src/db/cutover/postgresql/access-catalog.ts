import { firstNormalOid } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlSession } from '../../../postgresql/connection.ts';
import {
  decodeBoolean,
  decodeNumber,
  decodeOptionalText,
  decodeText,
  type PostgresqlRow,
} from '../../../postgresql/rows.ts';
import { omitControlResults, readOnlySql } from '../../../postgresql/search-path-safe-sql.ts';
import { aclSql, objectsSql } from './access-objects.ts';
import { readPostgresqlServerVersion } from './tables.ts';

/** One privilege of an access control list; the grantee of a privilege of PUBLIC is the empty name, which no role has. */
export interface Privilege {
  readonly grantor: string;
  readonly grantee: string;
  /** As aclexplode spells it, such as `SELECT`. */
  readonly name: string;
  readonly isGrantable: boolean;
}

export interface Role {
  readonly name: string;
  readonly attributes: Readonly<Record<RoleAttribute, boolean>>;
  readonly connectionLimit: number;
  /** In UTC, as text; undefined if the password does not expire. */
  readonly validUntil: string | undefined;
  readonly comment: string | undefined;
  /** A role that initdb created: the first superuser or a predefined role. */
  readonly isBuiltIn: boolean;
  /** Whether the role can run programs or read files of the server. */
  readonly isPowerful: boolean;
  /** Whether the login has the privileges of the role, and may SET ROLE to it. */
  readonly isUsable: boolean;
  /** Whether the login may make itself a member. */
  readonly isAdministered: boolean;
}

export type RoleAttribute = 'SUPERUSER' | 'INHERIT' | 'CREATEROLE' | 'CREATEDB' | 'LOGIN' | 'REPLICATION' | 'BYPASSRLS';

interface Membership {
  readonly role: string;
  readonly member: string;
  readonly admin: boolean;
  readonly inherit: boolean;
  readonly set: boolean;
}

/** The kinds of `acldefault`, which also tell how a statement names the object. */
type AclKind = 'r' | 's' | 'c' | 'f' | 'n' | 'T' | 'l' | 'F' | 'S' | 'L' | 'd' | 't' | 'p';

export interface AccessObject {
  /** The word of `ALTER … OWNER TO`, such as `TABLE`; `COLUMN` and `PARAMETER` have no owner of their own. */
  readonly word: string;
  /** undefined: an object without privileges, such as a collation. */
  readonly aclKind: AclKind | undefined;
  /** Empty: the object is in no schema. */
  readonly schema: string;
  /** Of a routine and an operator the signature, as regprocedure prints it; else the name without quotes. */
  readonly name: string;
  /** The column, or the access method of an operator class. */
  readonly part: string;
  readonly owner: string;
  /** `member`: of an extension, which owns it; `system`: created by initdb; `dependent`: follows the owner of a table. */
  readonly origin: 'user' | 'member' | 'system' | 'dependent';
  /** Whether code in the object runs with the rights of its owner. */
  readonly runsAsOwner: boolean;
  /** undefined: the default privileges of this kind of object. */
  readonly acl: readonly Privilege[] | undefined;
  /** What initdb or CREATE EXTENSION granted (pg_init_privs). */
  readonly initial: readonly Privilege[] | undefined;
}

export interface Setting {
  /** undefined: every role, of the database. */
  readonly role: string | undefined;
  /** Whether the setting is of this database only. */
  readonly isOfDatabase: boolean;
  readonly name: string;
  readonly value: string;
}

interface DefaultPrivileges {
  readonly role: string;
  /** Empty: every schema. */
  readonly schema: string;
  /** As in pg_default_acl.defaclobjtype. */
  readonly kind: string;
  readonly acl: readonly Privilege[];
}

/** Who may do what in one database of a server, and what its roles and this database are set to. */
export interface AccessCatalog {
  readonly version: number;
  readonly database: string;
  readonly connectionLimit: number;
  readonly comment: string | undefined;
  readonly login: string;
  /** Whether a subscription writes to the database: a migration that has not ended, as a rule. */
  readonly isSubscribed: boolean;
  readonly roles: ReadonlyMap<string, Role>;
  readonly memberships: readonly Membership[];
  /** Verifiers of passwords are secret: only whether they exist, and a hash to compare them with. undefined: not readable. */
  readonly passwords: ReadonlyMap<string, string | undefined> | undefined;
  /** Roles with a session on the server now. */
  readonly sessions: ReadonlySet<string>;
  readonly objects: readonly AccessObject[];
  readonly defaults: readonly DefaultPrivileges[];
  readonly settings: readonly Setting[];
  /** The context of each parameter (pg_settings), such as `superuser`. */
  readonly parameters: ReadonlyMap<string, string>;
  /** The default privileges of an object of a kind that this role owns. */
  defaultAcl(kind: string, owner: string): readonly Privilege[];
}

/** Reads everything with one message, in one read-only transaction that calls no function of a user. */
export async function readAccessCatalog(session: PostgresqlSession): Promise<AccessCatalog> {
  const version = await readPostgresqlServerVersion(session);
  const statements = accessCatalogSql(version);
  const message = readOnlySql(statements, { timezone: 'UTC', datestyle: 'ISO' });
  const sets = omitControlResults(await session.query(message, queryLimit), statements.length);
  const [roles = [], memberships = [], database = [], objects = [], defaults = [], settings = [], parameters = []] =
    sets;
  const names = new Map(roles.map((row) => [decodeText(row, 'oid'), decodeText(row, 'name')]));
  const nameOf = (row: PostgresqlRow, column: string): string => names.get(decodeText(row, column)) ?? '';
  const byKind = new Map((sets[7] ?? []).map((row) => [decodeText(row, 'kind'), row]));
  const [own] = database;
  return {
    version,
    database: decodeText(own ?? {}, 'name'),
    connectionLimit: decodeNumber(own, 'connection_limit'),
    comment: decodeOptionalText(own, 'comment'),
    login: decodeText(own ?? {}, 'login'),
    isSubscribed: decodeBoolean(own, 'is_subscribed'),
    roles: new Map(roles.map((row) => [decodeText(row, 'name'), decodeRole(row)])),
    memberships: memberships
      .map((row) => ({
        role: nameOf(row, 'roleid'),
        member: nameOf(row, 'member'),
        admin: decodeBoolean(row, 'admin'),
        inherit: decodeBoolean(row, 'inherit'),
        set: decodeBoolean(row, 'set'),
      }))
      .filter(({ role, member }) => role !== '' && member !== ''),
    passwords: decodeBoolean(own, 'sees_passwords') ? await readPasswords(session, version) : undefined,
    sessions: new Set((sets[8] ?? []).map((row) => decodeText(row, 'name'))),
    objects: objects.map((row) => decodeObject(row, names)),
    defaults: defaults.map((row) => ({
      role: nameOf(row, 'role'),
      schema: decodeOptionalText(row, 'schema') ?? '',
      kind: decodeText(row, 'kind'),
      acl: decodeAcl(row, 'acl', names) ?? [],
    })),
    settings: settings.map((row) => ({
      role: decodeText(row, 'role') === '0' ? undefined : nameOf(row, 'role'),
      isOfDatabase: decodeBoolean(row, 'is_of_database'),
      name: decodeText(row, 'name'),
      value: decodeText(row, 'value'),
    })),
    parameters: new Map(parameters.map((row) => [decodeText(row, 'name'), decodeText(row, 'context')])),
    defaultAcl: (kind, owner) => {
      const row = byKind.get(kind);
      const entries = (column: string, grantee: string) =>
        (decodeOptionalText(row, column) ?? '')
          .split(',')
          .filter((name) => name !== '')
          .map((name) => ({ grantor: owner, grantee, name, isGrantable: false }));
      return [...entries('of_owner', owner), ...entries('of_public', '')];
    },
  };
}

/** The queries of one message, in the order in which their results are read. */
export function accessCatalogSql(version: number): readonly string[] {
  return [
    rolesSql(version),
    membershipsSql(version),
    databaseSql(version),
    objectsSql(version),
    defaultsSql,
    settingsSql,
    'SELECT name, context FROM pg_settings',
    defaultAclsSql(version),
    'SELECT DISTINCT usename AS name FROM pg_stat_activity WHERE usename IS NOT NULL',
  ];
}

/** The catalogs of 20,000 tables are read in a second. */
const queryLimit = 120_000;

/** Only a superuser reads pg_authid. The verifiers stay on the server. */
async function readPasswords(session: PostgresqlSession, version: number): Promise<AccessCatalog['passwords']> {
  const hash = version < 110_000 ? 'md5(rolpassword)' : "encode(sha256(convert_to(rolpassword, 'UTF8')), 'hex')";
  const sql = `SELECT rolname AS name, ${hash} AS hash FROM pg_authid WHERE rolcanlogin`;
  const sets = await session.query(readOnlySql([sql]));
  const rows = omitControlResults(sets, 1)[0] ?? [];
  return new Map(rows.map((row) => [decodeText(row, 'name'), decodeOptionalText(row, 'hash')]));
}

function decodeRole(row: PostgresqlRow): Role {
  return {
    name: decodeText(row, 'name'),
    attributes: {
      SUPERUSER: decodeBoolean(row, 'rolsuper'),
      INHERIT: decodeBoolean(row, 'rolinherit'),
      CREATEROLE: decodeBoolean(row, 'rolcreaterole'),
      CREATEDB: decodeBoolean(row, 'rolcreatedb'),
      LOGIN: decodeBoolean(row, 'rolcanlogin'),
      REPLICATION: decodeBoolean(row, 'rolreplication'),
      BYPASSRLS: decodeBoolean(row, 'rolbypassrls'),
    },
    connectionLimit: decodeNumber(row, 'rolconnlimit'),
    validUntil: decodeOptionalText(row, 'valid_until'),
    comment: decodeOptionalText(row, 'comment'),
    isBuiltIn: Number(decodeText(row, 'oid')) < firstNormalOid,
    isPowerful: decodeBoolean(row, 'is_powerful'),
    isUsable: decodeBoolean(row, 'is_usable'),
    isAdministered: decodeBoolean(row, 'is_administered'),
  };
}

function decodeObject(row: PostgresqlRow, names: ReadonlyMap<string, string>): AccessObject {
  const origin = decodeText(row, 'origin');
  const kind = decodeText(row, 'kind');
  return {
    word: decodeText(row, 'word'),
    aclKind: aclKinds.find((one) => one === kind),
    schema: decodeText(row, 'schema'),
    name: decodeText(row, 'name'),
    part: decodeText(row, 'part'),
    owner: names.get(decodeText(row, 'owner')) ?? '',
    origin: origin === 'member' || origin === 'system' || origin === 'dependent' ? origin : 'user',
    runsAsOwner: decodeBoolean(row, 'runs_as_owner'),
    acl: decodeAcl(row, 'acl', names),
    initial: decodeAcl(row, 'initial', names),
  };
}

const aclKinds = ['r', 's', 'c', 'f', 'n', 'T', 'l', 'F', 'S', 'L', 'd', 't', 'p'] as const;

/** Roles are numbers in the text, so that no name can be read as another one. A role that was dropped is left out. */
function decodeAcl(
  row: PostgresqlRow,
  column: string,
  names: ReadonlyMap<string, string>,
): readonly Privilege[] | undefined {
  const text = decodeOptionalText(row, column);
  if (text === undefined) return undefined;
  return text
    .split(';')
    .filter((one) => one !== '')
    .flatMap((one) => {
      const [by = '', to = '', name = '', option] = one.split(',');
      const [grantor, grantee] = [names.get(by), to === '0' ? '' : names.get(to)];
      const isKnown = grantor !== undefined && grantee !== undefined && /^[A-Z][A-Z ]*$/.test(name);
      return isKnown ? [{ grantor, grantee, name, isGrantable: option === 't' }] : [];
    });
}

function rolesSql(version: number): string {
  return `SELECT r.oid, r.rolname AS name, r.rolsuper, r.rolinherit, r.rolcreaterole, r.rolcreatedb, r.rolcanlogin,
      r.rolreplication, r.rolbypassrls, r.rolconnlimit, nullif(r.rolvaliduntil, 'infinity')::text AS valid_until,
      shobj_description(r.oid, 'pg_authid') AS comment,
      r.rolsuper OR EXISTS (SELECT 1 FROM pg_roles p WHERE p.rolname IN ('pg_read_server_files', 'pg_write_server_files',
        'pg_execute_server_program') AND pg_has_role(r.oid, p.oid, 'MEMBER')) AS is_powerful,
      pg_has_role(r.oid, 'USAGE') AND pg_has_role(r.oid, '${version < 160_000 ? 'MEMBER' : 'SET'}') AS is_usable,
      pg_has_role(r.oid, 'MEMBER WITH ADMIN OPTION') AS is_administered
    FROM pg_roles r ORDER BY r.oid`;
}

/** From PostgreSQL 16 on a role can be a member several times, by several grantors. */
function membershipsSql(version: number): string {
  const options =
    version < 160_000
      ? 'bool_or(m.rolinherit) AS inherit, true AS set'
      : 'bool_or(a.inherit_option) AS inherit, bool_or(a.set_option) AS set';
  return `SELECT a.roleid, a.member, bool_or(a.admin_option) AS admin, ${options}
    FROM pg_auth_members a JOIN pg_roles m ON m.oid = a.member GROUP BY a.roleid, a.member ORDER BY a.roleid, a.member`;
}

function databaseSql(version: number): string {
  const subscribed =
    version < 100_000 ? 'false' : 'EXISTS (SELECT 1 FROM pg_subscription s WHERE s.subdbid = d.oid AND s.subenabled)';
  return `SELECT datname AS name, datconnlimit AS connection_limit, shobj_description(d.oid, 'pg_database') AS comment,
    session_user AS login, ${subscribed} AS is_subscribed,
    has_column_privilege('pg_catalog.pg_authid', 'rolpassword', 'SELECT') AS sees_passwords
  FROM pg_database d WHERE datname = current_database()`;
}

const defaultsSql = `SELECT d.defaclrole AS role, n.nspname AS schema, d.defaclobjtype AS kind, ${aclSql('d.defaclacl')} AS acl
  FROM pg_default_acl d LEFT JOIN pg_namespace n ON n.oid = d.defaclnamespace ORDER BY 1, 2, 3`;

const settingsSql = `SELECT s.setrole AS role, s.setdatabase <> 0 AS is_of_database, split_part(u.text, '=', 1) AS name,
    substr(u.text, strpos(u.text, '=') + 1) AS value
  FROM pg_db_role_setting s, unnest(s.setconfig) WITH ORDINALITY u(text, at)
  WHERE s.setdatabase = 0 OR s.setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
  ORDER BY s.setdatabase, s.setrole, u.at`;

/** What the owner and PUBLIC may do when nothing was granted, which depends on the release. */
function defaultAclsSql(version: number): string {
  const kinds = aclKinds.filter((kind) => kind !== 'p' || version >= 150_000).map((kind) => `('${kind}'::"char")`);
  return `SELECT k.kind, string_agg(a.privilege_type, ',') FILTER (WHERE a.grantee <> 0) AS of_owner,
      string_agg(a.privilege_type, ',') FILTER (WHERE a.grantee = 0) AS of_public
    FROM (VALUES ${kinds.join(', ')}) k(kind), aclexplode(acldefault(k.kind, '10')) a GROUP BY k.kind`;
}

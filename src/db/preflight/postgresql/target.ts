import { createLimit } from '../../../platform/memory.ts';
import { connectPostgresql } from '../../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { QueryError } from '../../../postgresql/query-error.ts';
import {
  decodeBoolean,
  decodeNumber,
  decodeOptionalText,
  decodeText,
  decodeTextArray,
  type PostgresqlRow,
} from '../../../postgresql/rows.ts';
import { omitControlResults } from '../../../postgresql/search-path-safe-sql.ts';
import { formatMajorVersion } from '../../../postgresql/version.ts';
import { managedMarkersQuery } from './queries/cluster.ts';
import { preflightTransaction } from './query.ts';

/**
 * How a PostgreSQL release provides an extension of the contrib modules. `trusted`: every role that may create objects
 * in the database can install the extension; `untrusted`: only a superuser can; `absent`: only other releases ship it;
 * `other`: no release from 10 to 18 ships it, or the release is newer than 18. The facts come from the extension
 * control files of each PostgreSQL release.
 */
type ContribStatus = 'trusted' | 'untrusted' | 'absent' | 'other';

export const contribMajors = { first: 10, last: 18 } as const;

/** @param major major version, 10 or newer */
export function contribStatus(name: string, major: number): ContribStatus {
  const found = contribExtensions.get(name);
  if (found === undefined || major > contribMajors.last) return 'other';
  const { since = contribMajors.first, until = contribMajors.last, trusted = false } = found;
  if (major < since || major > until) return 'absent';
  // PostgreSQL 13 added the keyword `trusted` to extension control files.
  return trusted && major >= 13 ? 'trusted' : 'untrusted';
}

interface ContribExtension {
  /**
   * The first and the last PostgreSQL release that ships the extension; absent if all releases from 10 to 18 ship it.
   */
  readonly since?: number;
  readonly until?: number;
  readonly trusted?: true;
}

const trustedNames =
  'btree_gin btree_gist citext cube dict_int fuzzystrmatch hstore intarray isn lo ltree pg_trgm pgcrypto seg tablefunc tcn tsm_system_rows tsm_system_time unaccent uuid-ossp';

const untrustedNames =
  'amcheck autoinc bloom dblink dict_xsyn earthdistance file_fdw hstore_plperl hstore_plperlu hstore_plpython3u insert_username intagg ltree_plpython3u moddatetime pageinspect pg_buffercache pg_freespacemap pg_prewarm pg_stat_statements pg_visibility pgrowlocks pgstattuple postgres_fdw refint sslinfo xml2';

const contribExtensions: ReadonlyMap<string, ContribExtension> = new Map<string, ContribExtension>([
  ...trustedNames.split(' ').map((name) => [name, { trusted: true }] as const),
  ...untrustedNames.split(' ').map((name) => [name, {}] as const),
  ['adminpack', { until: 16 }],
  ['bool_plperl', { since: 13, trusted: true }],
  ['bool_plperlu', { since: 13 }],
  ['chkpass', { until: 10 }],
  ['hstore_plpython2u', { until: 14 }],
  ['hstore_plpythonu', { until: 14 }],
  ['jsonb_plperl', { since: 11, trusted: true }],
  ['jsonb_plperlu', { since: 11 }],
  ['jsonb_plpython2u', { since: 11, until: 14 }],
  ['jsonb_plpython3u', { since: 11 }],
  ['jsonb_plpythonu', { since: 11, until: 14 }],
  ['ltree_plpython2u', { until: 14 }],
  ['ltree_plpythonu', { until: 14 }],
  ['old_snapshot', { since: 14, until: 16 }],
  ['pg_logicalinspect', { since: 18 }],
  ['pg_surgery', { since: 14 }],
  ['pg_walinspect', { since: 15 }],
  ['timetravel', { until: 11 }],
]);

/** An extension that the target provides, in the version that CREATE EXTENSION installs. */
interface TargetExtension {
  readonly version: string;
  /** Whether every role that may create objects in the database can install the extension. */
  readonly isTrusted: boolean;
  /** The only schema in which the extension can be installed; undefined if every schema will do. */
  readonly schema: string | undefined;
  /** The extensions that must be installed before it. */
  readonly requires: readonly string[];
}

/** What a PostgreSQL target reports about itself: a staging server, the target of a rehearsal, a cluster. */
export interface PostgresqlTarget {
  /** server_version_num. */
  readonly version: number;
  readonly login: string;
  readonly isSuperuser: boolean;
  readonly mayCreateDatabases: boolean;
  readonly mayCreateRoles: boolean;
  readonly maySubscribe: boolean;
  /** Whether row-level security never applies to the login. */
  readonly bypassesRls: boolean;
  /** Whether the service grants its administrator what PostgreSQL reserves for superusers, such as some extensions. */
  readonly isManaged: boolean;
  readonly extensions: ReadonlyMap<string, TargetExtension>;
  readonly languages: ReadonlySet<string>;
  /** Names of the collations and locales of the operating system and of ICU. */
  readonly locales: ReadonlySet<string>;
  /** Names of time zones, in lower case; undefined if the server could not read its files. */
  readonly timeZones: ReadonlySet<string> | undefined;
  readonly roles: ReadonlySet<string>;
  readonly databases: ReadonlySet<string>;
  /** Settings by name. The server hides some settings, such as shared_preload_libraries, from a login without rights. */
  readonly settings: ReadonlyMap<string, string>;
  /** Number of enabled subscriptions in all databases. */
  readonly subscriptions: number;
}

/**
 * Reads a target in read-only transactions. Rejects with a ConnectError or a QueryError.
 * @param onSend receives every statement just before it is sent
 */
export async function readPostgresqlTarget(
  endpoint: PostgresqlEndpoint,
  signal: AbortSignal,
  onSend: (text: string) => void = () => {},
): Promise<PostgresqlTarget> {
  const memory = createLimit('session');
  const session = await connectPostgresql(endpoint, { dbname: endpoint.dbname, limit: 10_000, signal, memory });
  try {
    const read = async (statements: readonly string[], version?: number) => {
      const text = preflightTransaction(statements, version);
      onSend(text);
      return omitControlResults(await session.query(text, 30_000), statements.length);
    };
    const [login] = (await read([loginSql])).flat();
    const version = decodeNumber(login, 'version');
    const [extensions = [], names = [], settings = [], [subscribed] = [], marks = []] = await read(
      [
        extensionsSql(version),
        namesSql,
        settingsSql,
        subscriptionsSql(version),
        managedMarkersQuery.sql(version, preconditions) ?? '',
      ],
      version,
    );
    const namesOf = (kind: string) =>
      new Set(names.filter((row) => row.kind === kind).map((row) => decodeText(row, 'name')));
    return {
      version,
      login: decodeText(login, 'login'),
      isSuperuser: decodeBoolean(login, 'superuser'),
      mayCreateDatabases: decodeBoolean(login, 'createdb'),
      mayCreateRoles: decodeBoolean(login, 'createrole'),
      maySubscribe: decodeBoolean(login, 'subscribes'),
      bypassesRls: decodeBoolean(login, 'bypasses'),
      isManaged: marks.length > 0,
      extensions: new Map(extensions.map((row) => [decodeText(row, 'name'), decodeExtension(row)])),
      languages: namesOf('language'),
      locales: namesOf('locale'),
      timeZones: await readTimeZones(read, version),
      roles: namesOf('role'),
      databases: namesOf('database'),
      settings: new Map(settings.map((row) => [decodeText(row, 'name'), decodeText(row, 'setting')])),
      subscriptions: decodeNumber(subscribed, 'subscriptions'),
    };
  } finally {
    await session.end();
  }
}

/** A link to a file that is missing fails the whole view. The transaction of a failed message ends with the session. */
async function readTimeZones(
  read: (statements: readonly string[], version: number) => Promise<readonly (readonly PostgresqlRow[])[]>,
  version: number,
): Promise<ReadonlySet<string> | undefined> {
  try {
    const rows = (await read([timeZonesSql], version)).flat();
    return new Set(rows.map((row) => decodeText(row, 'name')));
  } catch (error) {
    if (error instanceof QueryError && !error.lost) return undefined;
    throw error;
  }
}

const timeZonesSql = 'SELECT lower(name) AS name FROM pg_timezone_names';

const preconditions = { inRecovery: false, superuser: false };

const loginSql = `
  SELECT
    current_setting('server_version_num') AS version,
    rolname AS login,
    rolsuper AS superuser,
    rolsuper OR rolbypassrls AS bypasses,
    rolsuper OR rolcreatedb AS createdb,
    rolsuper OR rolcreaterole AS createrole,
    rolsuper OR EXISTS (
      SELECT FROM pg_roles s
      WHERE s.rolname = 'pg_create_subscription' AND pg_has_role(session_user, s.oid, 'USAGE')
    ) AS subscribes
  FROM pg_roles
  WHERE rolname = session_user
`;

/** PostgreSQL 13 added trusted extensions. */
function extensionsSql(version: number): string {
  return `
    SELECT
      v.name,
      v.version,
      NOT v.superuser ${version >= 130_000 ? 'OR v.trusted' : ''} AS trusted,
      v.schema,
      v.requires
    FROM pg_available_extensions e
    JOIN pg_available_extension_versions v ON v.name = e.name AND v.version = e.default_version
  `;
}

function decodeExtension(row: PostgresqlRow): TargetExtension {
  return {
    version: decodeText(row, 'version'),
    isTrusted: decodeBoolean(row, 'trusted'),
    schema: decodeOptionalText(row, 'schema'),
    requires: decodeTextArray(row, 'requires'),
  };
}

const namesSql = `
  SELECT 'language' AS kind, lanname::text AS name FROM pg_language
  UNION ALL SELECT 'locale', collname FROM pg_collation
  UNION ALL SELECT 'locale', collcollate FROM pg_collation WHERE collcollate IS NOT NULL
  UNION ALL SELECT 'role', rolname FROM pg_roles
  UNION ALL SELECT 'database', datname FROM pg_database
`;

const settingsSql = 'SELECT name, setting FROM pg_settings';

function subscriptionsSql(version: number): string {
  return version < 100_000
    ? 'SELECT 0 AS subscriptions'
    : 'SELECT count(*) AS subscriptions FROM pg_subscription WHERE subenabled';
}

/** The server that is named as the target; `postgresql` is what it reports, if it was read. */
export interface NamedTarget {
  readonly host: string;
  readonly port: number;
  readonly postgresql?: PostgresqlTarget | undefined;
  /** What it holds already, as the service words it, such as `the target is not empty`; by database for PostgreSQL. */
  readonly contents?: readonly { readonly database: string | undefined; readonly reason: string }[];
}

/**
 * Whether the login of the target is known to be a superuser. Logins of a managed service are no superusers, so a target
 * that was not read counts as one without.
 */
export function isTargetSuperuser({ target }: { readonly target: NamedTarget | undefined }): boolean {
  return target?.postgresql?.isSuperuser === true;
}

/** Why the target cannot create what needs a superuser, as a clause, and how to show that it can, as a sentence. */
export function describeMissingSuperuser({ target }: { readonly target: NamedTarget | undefined }): {
  readonly reason: string;
  readonly remedy: string;
} {
  const login = target?.postgresql?.login;
  return login === undefined
    ? {
        reason: 'the target has no login that is a superuser',
        remedy: ' If the login of the target is a superuser, show it with --target URL.',
      }
    : { reason: `${login} is no superuser of the target`, remedy: '' };
}

/** The options of a preflight that follow from what the target reports. */
export function optionsOfTarget(
  { host, port }: PostgresqlEndpoint,
  postgresql: PostgresqlTarget,
): { readonly target: NamedTarget; readonly targetVersion: string } {
  return { target: { host, port, postgresql }, targetVersion: formatMajorVersion(postgresql.version) };
}

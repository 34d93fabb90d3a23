/**
 * How a PostgreSQL release provides an extension of the contrib modules. `trusted`: every role that may create objects
 * in the database can install the extension; `untrusted`: only a superuser can; `absent`: only other releases ship it;
 * `other`: no release from 10 to 18 ships it, or the release is newer than 18. The facts come from the extension
 * control files of each PostgreSQL release.
 */
type ContribExtensionStatus = 'trusted' | 'untrusted' | 'absent' | 'other';

export const majorVersionsWithContribExtensionData = { first: 10, last: 18 } as const;

/** @param major major version, 10 or newer */
export function getContribExtensionStatus(name: string, major: number): ContribExtensionStatus {
  const found = contribExtensions.get(name);
  if (found === undefined || major > majorVersionsWithContribExtensionData.last) return 'other';
  const {
    since = majorVersionsWithContribExtensionData.first,
    until = majorVersionsWithContribExtensionData.last,
    trusted = false,
  } = found;
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

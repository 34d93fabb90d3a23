/**
 * Whether a release of PostgreSQL ships an extension in its contrib modules. `trusted`: every role that may create objects in
 * the database can install it; `untrusted`: only a superuser can; `absent`: it is in contrib of another release;
 * `other`: it is in contrib of no release from 10 to 18, or the release is newer than these. Source: the control files of each release.
 */
export type ContribStatus = 'trusted' | 'untrusted' | 'absent' | 'other';

export const contribReleases = { first: 10, last: 18 } as const;

/** @param major major version, 10 or newer */
export function contribStatus(name: string, major: number): ContribStatus {
  const found = contribExtensions.get(name);
  if (found === undefined || major > contribReleases.last) return 'other';
  const { since = contribReleases.first, until = contribReleases.last, trusted = false } = found;
  if (major < since || major > until) return 'absent';
  // The keyword `trusted` of control files was added in 13.
  return trusted && major >= 13 ? 'trusted' : 'untrusted';
}

interface ContribExtension {
  /** First and last release that ships it; absent: all from 10 to 18. */
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

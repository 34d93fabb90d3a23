import { expect, test } from 'vitest';
import type { PreflightOptions } from '../../../../../src/db/preflight/options.ts';
import { extensionsCheck } from '../../../../../src/db/preflight/postgresql/checks/extensions.ts';
import { connected, postgresqlTarget, preflightOptions, short, sourceFacts } from '../facts.ts';

interface Installed {
  readonly name: string;
  readonly version: string;
  readonly schema: string;
  readonly hasUserRows: boolean;
}

function installed(...texts: readonly string[]): readonly Installed[] {
  return texts.map((text) => {
    const [name = '', version = '1.0', schema = 'public'] = text.split(' ');
    return { name, version, schema, hasUserRows: false };
  });
}

function judged(extensions: readonly Installed[], options: Partial<PreflightOptions>, version = 150_000) {
  const facts = sourceFacts({ connection: connected({ version }) });
  return extensionsCheck.evaluate({ extensions }, 'd1', facts, preflightOptions({ targetVersion: '17', ...options }));
}

test.each([
  { has: ['postgis'], named: undefined, verdict: 'unknown' },
  { has: ['plpgsql'], named: undefined, verdict: 'pass' },
  { has: [], named: [], verdict: 'pass' },
  // A name is not a version, and adds to the trusted modules of the release.
  { has: ['hstore', 'PostGIS'], named: ['postgis'], verdict: 'unknown' },
  { has: ['hstore', 'PostGIS 3.3.2'], named: ['postgis=3.3.2'], verdict: 'pass' },
  { has: ['hstore', 'postgis 3.3.2'], named: ['postgis=3.3.5'], verdict: 'pass' },
  { has: ['hstore', 'postgis 3.3.2'], named: ['postgis=3.5.0'], verdict: 'pass' },
  { has: ['postgis 3.3.2'], named: ['postgis=3.2.0'], verdict: 'unknown' },
  { has: ['postgis 2.5.0'], named: ['postgis=3.5.0'], verdict: 'unknown' },
  { has: ['postgis 3.3.2'], named: ['postgis', 'postgis=3.3.2'], verdict: 'pass' },
  { has: ['hstore', 'postgis'], named: ['hstore'], verdict: 'unknown' },
  { has: ['pg_stat_statements'], named: ['hstore'], verdict: 'unknown' },
  { has: ['pg_stat_statements'], named: ['pg_stat_statements'], verdict: 'pass' },
  { has: ['plperlu 1.0 pg_catalog'], named: ['plperlu'], verdict: 'pass' },
  { has: ['pg_cron 1.4-1'], named: ['pg_cron'], verdict: 'unknown' },
  { has: ['pg_cron 1.4-1'], named: ['pg_cron=1.6'], verdict: 'fail continuous+dump' },
  { has: ['pg_cron 1.4-1 pg_catalog'], named: ['pg_cron=1.6'], verdict: 'unknown' },
  { has: ['pg_cron 1.6 pg_catalog'], named: ['pg_cron=1.6'], verdict: 'unknown' },
  { has: ['pgaudit 17.0'], named: ['pgaudit=17.0'], verdict: 'unknown' },
  { has: ['pg_partman 4.7.2'], named: ['pg_partman=5.2.4'], verdict: 'fail continuous+dump' },
  { has: ['pg_partman 4.7.2'], named: ['pg_partman=4.7.2'], verdict: 'pass' },
  { has: ['timescaledb 2.9'], named: ['timescaledb=2.9'], verdict: 'fail continuous+dump' },
])('extensions $has, --target-extensions $named: $verdict', ({ has, named, verdict }) => {
  expect(short(judged(installed(...has), { targetExtensions: named }))).toBe(verdict);
});

test('a list that may be incomplete is no reason to drop an extension', () => {
  const { fix, objects } = judged(installed('hstore', 'postgis', 'pg_cron'), { targetExtensions: ['hstore'] });
  expect(objects).toEqual(['postgis 1.0', 'pg_cron 1.0']);
  expect(fix?.text).not.toContain('DROP');
});

test('configuration rows of an extension do not prove that they fit another version', () => {
  const jobs = installed('tasks 1.4').map((one) => ({ ...one, hasUserRows: true }));
  expect(short(judged(jobs, { targetExtensions: ['tasks=1.4'] }))).toBe('pass');
  const outcome = judged(jobs, { targetExtensions: ['tasks=1.5'] });
  expect(short(outcome)).toBe('unknown');
  expect(outcome.settledBy).toBe('cloudctl db rehearse');
});

test.each([
  { has: ['citext'], from: 150_000, target: undefined, verdict: 'pass' },
  { has: ['citext', 'postgis'], from: 150_000, target: '17', verdict: 'unknown' },
  { has: ['postgres_fdw'], from: 150_000, target: '17', verdict: 'unknown' },
  { has: ['adminpack'], from: 150_000, target: undefined, verdict: 'unknown' },
  { has: ['adminpack'], from: 150_000, target: '16', verdict: 'unknown' },
  { has: ['adminpack', 'citext'], from: 150_000, target: '17', verdict: 'fail continuous+dump' },
  { has: ['citext'], from: 150_000, target: '19', verdict: 'unknown' },
  { has: ['citext'], from: 190_000, target: undefined, verdict: 'unknown' },
  { has: ['citext'], from: 110_000, target: '12', verdict: 'unknown' },
])('extensions $has of $from, --target-version $target: $verdict', ({ has, from, target, verdict }) => {
  expect(short(judged(installed(...has), { targetVersion: target, targetExtensions: undefined }, from))).toBe(verdict);
});

const trusted = { isTrusted: true, schema: undefined, requires: [] };
const target = postgresqlTarget({
  isSuperuser: false,
  extensions: new Map([
    ['hstore', { ...trusted, version: '1.8' }],
    ['postgis', { ...trusted, version: '3.5.2', isTrusted: false }],
    ['pg_cron', { ...trusted, version: '1.6', schema: 'pg_catalog' }],
    ['pg_partman', { ...trusted, version: '5.2.4' }],
    ['topology', { ...trusted, version: '3.5.2', requires: ['postgis'] }],
  ]),
  settings: new Map([
    ['shared_preload_libraries', 'pg_stat_statements, pg_cron'],
    ['cron.database_name', 'd1'],
  ]),
});

test.each([
  { has: ['hstore 1.8'], more: {}, verdict: 'pass' },
  { has: ['hstore 1.4'], more: {}, verdict: 'pass' },
  { has: ['hstore 1.9'], more: {}, verdict: 'unknown' },
  { has: ['citext 1.6'], more: {}, verdict: 'fail continuous+dump' },
  { has: ['postgis 3.5.2'], more: {}, verdict: 'fail continuous+dump' },
  { has: ['postgis 3.5.2'], more: { isSuperuser: true }, verdict: 'pass' },
  // The service decides what its administrator may create.
  { has: ['postgis 3.5.2'], more: { isManaged: true }, verdict: 'unknown' },
  { has: ['topology 3.5.2'], more: {}, verdict: 'fail continuous+dump' },
  { has: ['pg_cron 1.6 public'], more: {}, verdict: 'fail continuous+dump' },
  { has: ['pg_cron 1.6 pg_catalog'], more: {}, verdict: 'pass' },
  {
    has: ['pg_cron 1.6 pg_catalog'],
    more: { settings: new Map([['shared_preload_libraries', '']]) },
    verdict: 'fail continuous+dump',
  },
  { has: ['pg_cron 1.6 pg_catalog'], more: { settings: new Map() }, verdict: 'unknown' },
  {
    has: ['pg_cron 1.6 pg_catalog'],
    more: { settings: new Map([...target.settings, ['cron.database_name', 'jobs']]) },
    verdict: 'fail continuous+dump',
  },
  { has: ['pg_partman 4.7.2'], more: {}, verdict: 'fail continuous+dump' },
])('extensions $has on a target that was read, $more: $verdict', ({ has, more, verdict }) => {
  const read = { host: 'staging', port: 5432, postgresql: { ...target, ...more } };
  expect(short(judged(installed(...has), { target: read }))).toBe(verdict);
});

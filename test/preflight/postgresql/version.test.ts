import { describe, expect, test } from 'vitest';
import { notPostgresCheck } from '../../../src/preflight/postgresql/checks/not-postgres.ts';
import { postgresqlVersionMinCheck } from '../../../src/preflight/postgresql/checks/version-min.ts';
import { postgresqlVersionNotNewerCheck } from '../../../src/preflight/postgresql/checks/version-not-newer.ts';
import { entered, healthyFacts, outcomeOf } from './login-facts.ts';

const of = (version: number) => ({ ...healthyFacts, connection: { ...entered, version } });
const saying = (versionText: string) => ({ ...healthyFacts, connection: { ...entered, versionText } });

test.each([
  [180004, 'pass', []],
  [100000, 'pass', []],
  [90624, 'fail', ['continuous']],
  [90600, 'fail', ['continuous']],
  [90525, 'fail', ['continuous', 'dump']],
  [80002, 'fail', ['continuous', 'dump']],
])('version-min: %d is %s, blocks %j', (version, status, blocks) => {
  expect(outcomeOf(postgresqlVersionMinCheck, of(version))).toMatchObject({ status, blocks });
});

describe('version-not-newer', () => {
  test.each([
    [150018, '15', 'pass'],
    [150018, '15.1', 'pass'],
    [150018, '18', 'pass'],
    [150018, '14', 'fail'],
    [180004, '17', 'fail'],
    [90624, '10', 'pass'],
    [90624, '9.6', 'pass'],
    [100023, '9.6', 'fail'],
  ])('source %d into %s is %s', (version, targetVersion, status) => {
    const outcome = outcomeOf(postgresqlVersionNotNewerCheck, of(version), { targetVersion });
    expect(outcome.status).toBe(status);
    expect(outcome.blocks).toEqual(status === 'fail' ? ['continuous', 'dump'] : []);
  });

  test.each([undefined, 'newest'])('a target of %s is unknown, and the option is named', (targetVersion) => {
    const outcome = outcomeOf(postgresqlVersionNotNewerCheck, of(150018), { targetVersion });
    expect(outcome.status).toBe('unknown');
    expect(outcome.fix?.text).toContain('--target-version');
  });
});

describe('not-postgres', () => {
  test.each([
    'PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit',
    'PostgreSQL 18.4 on aarch64-apple-darwin23.6.0, compiled by Apple clang version 15.0.0, 64-bit',
    'PostgreSQL 9.6.24, compiled by Visual C++ build 1800, 64-bit',
    'PostgreSQL 18beta1 on x86_64-linux, compiled by gcc, 64-bit',
  ])('%s is PostgreSQL', (text) => {
    expect(outcomeOf(notPostgresCheck, saying(text)).status).toBe('pass');
  });

  test.each([
    ['CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27)', /CockroachDB/],
    ['PostgreSQL 11.2-YB-2.20.1.0-b0 on x86_64-pc-linux-gnu, compiled by clang', /YugabyteDB/],
    ['PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc, Redshift 1.0.62691', /Redshift/],
    ['PostgreSQL 9.4.26 (Greenplum Database 6.25.3) on x86_64', /Greenplum/],
    ['Something 1.0', /This product/],
    ['', /This product/],
  ])('%s is not', (text, product) => {
    const outcome = outcomeOf(notPostgresCheck, saying(text));
    expect(outcome).toMatchObject({ status: 'fail', blocks: ['continuous'] });
    expect(outcome.detail).toMatch(product);
  });
});

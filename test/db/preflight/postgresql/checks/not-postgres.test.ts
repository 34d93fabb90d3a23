import { describe, expect, test } from 'vitest';
import { notPostgresCheck } from '../../../../../src/db/preflight/postgresql/checks/not-postgres.ts';
import { entered, healthyFacts, outcomeOf } from '../login-facts.ts';

const saying = (versionText: string) => ({ ...healthyFacts, connection: { ...entered, versionText } });

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

import { expect, it } from 'vitest';
import {
  databaseManualPageOfCheck,
  idsOfChecksExplainedInDatabaseManual,
} from '../../../../src/db/preflight/formats/sarif-report.ts';
import { postgresqlChecks } from '../../../../src/db/preflight/postgresql/checks.ts';
import { redisChecks } from '../../../../src/db/preflight/redis/checks.ts';

it('every check with a page of a manual exists, and has one page', () => {
  const ids = new Set([...postgresqlChecks, ...redisChecks].map(({ id }) => id));
  expect(idsOfChecksExplainedInDatabaseManual.filter((id) => !ids.has(id))).toEqual([]);
  expect(new Set(idsOfChecksExplainedInDatabaseManual).size).toBe(idsOfChecksExplainedInDatabaseManual.length);
});

it.each([
  ['wal-level', 'https://www.postgresql.org/docs/current/runtime-config-wal.html'],
  ['protected-mode', 'https://redis.io/docs/latest/operate/oss_and_stack/management/security/'],
  ['host-parse', undefined],
])('the page of %s is %s', (id, page) => expect(databaseManualPageOfCheck(id)).toBe(page));

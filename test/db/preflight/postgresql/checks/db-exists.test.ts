import { describe, expect, test } from 'vitest';
import { dbExistsCheck } from '../../../../../src/db/preflight/postgresql/checks/db-exists.ts';
import { expectText } from '../expect-text.ts';
import { healthyFacts, outcomeOf, refusedFacts } from '../login-facts.ts';

const odd = { username: 'o"d\'d', dbname: 'My-DB "x"' };

describe('db-exists', () => {
  test.each([
    [
      '42501',
      `GRANT CONNECT ON DATABASE "My-DB ""x""" TO "o""d'd"`,
      `REVOKE CONNECT ON DATABASE "My-DB ""x""" FROM "o""d'd"`,
    ],
    [
      '55000',
      'ALTER DATABASE "My-DB ""x""" WITH ALLOW_CONNECTIONS true',
      'ALTER DATABASE "My-DB ""x""" WITH ALLOW_CONNECTIONS false',
    ],
  ])('%s has its statement and its way back', (code, sql, undo) => {
    expect(outcomeOf(dbExistsCheck, refusedFacts(code, undefined, odd)).fix).toMatchObject({
      sql: [sql],
      undo: [undo],
    });
  });
  test('a name that is wrong has none', () => {
    expect(outcomeOf(dbExistsCheck, refusedFacts('3D000')).fix?.sql).toBeUndefined();
  });
});

test('a denied first query is not a missing CONNECT privilege', () => {
  const entry = { kind: 'refused', code: '42501', message: 'permission denied for function pg_backend_pid' } as const;
  const { fix, detail } = outcomeOf(dbExistsCheck, { ...healthyFacts, connection: { ...entry, asked: true } });
  expectText(detail);
  expect(fix?.sql?.at(-1)).toContain('GRANT EXECUTE ON FUNCTION pg_catalog.pg_backend_pid()');
  expect(outcomeOf(dbExistsCheck, { ...healthyFacts, connection: entry }).fix?.sql?.[0]).toContain('GRANT CONNECT');
});

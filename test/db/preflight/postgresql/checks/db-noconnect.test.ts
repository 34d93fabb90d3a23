import { expect, test } from 'vitest';
import { dbNoconnectCheck } from '../../../../../src/db/preflight/postgresql/checks/db-noconnect.ts';
import type { DatabaseAccess } from '../../../../../src/db/preflight/postgresql/source-facts.ts';
import { expectText } from '../expect-text.ts';
import { connected, database, preflightOptions, short, sourceFacts } from '../facts.ts';

const both = 'fail continuous+dump';

test.each([
  { what: 'entered', is: {}, reach: { kind: 'entered' }, verdict: 'pass' },
  { what: 'datallowconn false', is: { allowsConnections: false }, reach: { kind: 'closed' }, verdict: both },
  { what: 'a template', is: { template: true }, reach: { kind: 'entered' }, verdict: both },
  { what: 'no CONNECT', is: { mayConnect: false }, reach: { kind: 'closed' }, verdict: both },
  { what: 'half dropped', is: { connectionLimit: -2 }, reach: { kind: 'closed' }, verdict: both },
  { what: 'refused', is: {}, reach: { kind: 'refused', code: '28000', message: 'no entry' }, verdict: both },
  {
    what: 'no answer',
    is: {},
    reach: { kind: 'lost', message: 'no answer within 10 s' },
    verdict: 'fail continuous+dump',
  },
  { what: 'not tried', is: {}, reach: undefined, verdict: 'fail continuous+dump' },
] satisfies readonly { what: string; is: object; reach: DatabaseAccess | undefined; verdict: string }[])(
  'a database, $what: $verdict',
  ({ is, reach, verdict }) => {
    const tried = new Map<string, DatabaseAccess>(reach === undefined ? [] : [['d1', reach]]);
    const outcome = dbNoconnectCheck.evaluate(
      { databases: [database('d1', is)] },
      'd1',
      sourceFacts({ access: tried }),
      preflightOptions(),
    );
    expect(short(outcome)).toBe(verdict);
  },
);

test.each([{ code: '28000' }, { code: '53300' }, { code: '57P03' }, { code: 'XX000' }])(
  'a refusal with $code has the fix of that code',
  ({ code }) => {
    const reach = new Map<string, DatabaseAccess>([['d1', { kind: 'refused', code, message: 'its words' }]]);
    const outcome = dbNoconnectCheck.evaluate(
      { databases: [database('d1')] },
      'd1',
      sourceFacts({ access: reach }),
      preflightOptions(),
    );
    expectText(outcome.detail);
    expectText(outcome.fix?.text);
    expect(outcome.fix?.text).toContain('--ignore-dbs d1');
  },
);

test('the fixes quote the database and the role', () => {
  const reach = new Map<string, DatabaseAccess>([['My-DB', { kind: 'closed' }]]);
  const facts = { databases: [database('My-DB', { mayConnect: false })] };
  expect(
    dbNoconnectCheck.evaluate(facts, 'My-DB', sourceFacts({ access: reach, username: 'a b' }), preflightOptions()).fix,
  ).toMatchObject({
    sql: ['GRANT CONNECT ON DATABASE "My-DB" TO "a b"'],
    undo: ['REVOKE CONNECT ON DATABASE "My-DB" FROM "a b"'],
  });
});

test('a CONNECTION LIMIT that rejects the role is removed by the fix, and does not apply to a superuser', () => {
  const reach = new Map<string, DatabaseAccess>([
    ['d1', { kind: 'lost', message: 'too many connections for database "d1"' }],
  ]);
  const judged = (superuser: boolean) =>
    dbNoconnectCheck.evaluate(
      { databases: [database('d1', { connectionLimit: 0 })] },
      'd1',
      sourceFacts({ access: reach, connection: connected({ superuser }) }),
      preflightOptions(),
    );
  expect(judged(false).fix).toMatchObject({
    sql: ['ALTER DATABASE "d1" CONNECTION LIMIT -1'],
    undo: ['ALTER DATABASE "d1" CONNECTION LIMIT 0'],
  });
  expect(judged(true).fix?.sql).toBeUndefined();
});

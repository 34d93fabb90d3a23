import { expect, test } from 'vitest';
import type { PostgresqlSession } from '../../../src/postgresql/connection.ts';
import { QueryError } from '../../../src/postgresql/query-error.ts';
import type { PostgresqlQuery } from '../../../src/preflight/postgresql/query.ts';
import { type RunQueriesOptions, runQueries } from '../../../src/preflight/postgresql/run-queries.ts';

const ask = (id: string, sql: string | undefined = `SELECT '${id}' AS v`): PostgresqlQuery<string> => ({
  id,
  scope: 'server',
  sql: () => sql,
  decode: ([row]) => row?.v ?? 'nothing',
  absent: 'absent',
  grant: (user) => `GRANT ${id} TO ${user}`,
});

const a = ask('a');
const b = ask('b');
const c = ask('c');

/** A server that answers each statement with its own text, and refuses those that hold a word. */
function asking(refused: Readonly<Record<string, QueryError>>, sent: string[], left = () => 40_000): RunQueriesOptions {
  const session: PostgresqlSession = {
    processId: 1,
    tls: undefined,
    passwordAsked: true,
    query: (text) => {
      const found = Object.entries(refused).find(([word]) => text.includes(word));
      if (found !== undefined) return Promise.reject(found[1]);
      const statements = text.split('; ');
      return Promise.resolve(statements.map((one) => (one.startsWith('SELECT') ? [{ v: one }] : [])));
    },
    end: () => Promise.resolve(),
  };
  return {
    session,
    version: 170_000,
    context: { inRecovery: false, superuser: true },
    username: 'u',
    dbname: 'db',
    serverResults: new Map(),
    onSent: (text) => sent.push(text),
    left,
  };
}

test('all questions travel in one read-only message that leaves no setting behind', async () => {
  const sent: string[] = [];
  const { results: answers, lost } = await runQueries([a, b], asking({}, sent));
  expect(sent).toEqual([
    "BEGIN READ ONLY; SET LOCAL transaction_timeout='0'; SET LOCAL statement_timeout='15s'; SET LOCAL lock_timeout='1s'; SET LOCAL exit_on_error=off; SET LOCAL work_mem='16MB'; SET LOCAL search_path=pg_catalog,pg_temp; SET LOCAL jit=off; SELECT 'a' AS v; SELECT 'b' AS v; COMMIT",
  ]);
  expect(answers.get(b)).toEqual({ kind: 'known', value: "SELECT 'b' AS v" });
  expect(lost).toBeUndefined();
});

test('what the server answered before, and which database it is, decide what is asked of it', async () => {
  const sent: string[] = [];
  const due: PostgresqlQuery<string> = { ...b, when: (known, dbname) => known(a) === 'said before' && dbname === 'db' };
  const plan = new Map([[a, { kind: 'known', value: 'said before' } as const]]);
  const idle: PostgresqlQuery<string> = { ...c, when: (_known, dbname) => dbname !== 'db' };
  const { results: answers } = await runQueries([due, idle], { ...asking({}, sent), serverResults: plan });
  expect(answers.get(due)).toEqual({ kind: 'known', value: "SELECT 'b' AS v" });
  expect(answers.get(idle)).toEqual({ kind: 'known', value: c.absent });
  expect(answers.has(a)).toBe(false);
});

test('a denied question alone is unknown, with the statement that would let it be asked', async () => {
  const sent: string[] = [];
  const denied = new QueryError('42501', 'permission denied for view b', false);
  const { results: answers } = await runQueries([a, b, c], asking({ "'b'": denied }, sent));
  expect(answers.get(b)).toEqual({ kind: 'denied', reason: 'permission denied for view b', grant: 'GRANT b TO u' });
  expect([answers.get(a)?.kind, answers.get(c)?.kind]).toEqual(['known', 'known']);
  // Each refusal is followed by the end of its transaction.
  expect(sent.filter((text) => text === 'ROLLBACK')).toHaveLength(2);
  expect(sent).toHaveLength(6);
});

test('a question that is too slow alone is unknown', async () => {
  const slow = new QueryError('57014', 'canceling statement due to statement timeout', false);
  const { results: answers } = await runQueries([a, b, c], asking({ "'b'": slow }, []));
  expect(answers.get(b)).toEqual({ kind: 'failed', reason: 'canceling statement due to statement timeout' });
  expect(answers.get(c)?.kind).toBe('known');
});

test('when the connection breaks nothing is asked again, and every question has the reason', async () => {
  const sent: string[] = [];
  const broken = new QueryError('ECONNRESET', 'the connection was closed', true);
  const { results: answers, lost } = await runQueries([a, b], asking({ "'b'": broken }, sent));
  expect(lost).toBe(broken);
  expect(sent).toHaveLength(1);
  expect(answers.get(a)).toEqual({ kind: 'failed', reason: 'the connection was closed' });
});

test('what the version does not have is not asked', async () => {
  const sent: string[] = [];
  const none = { ...ask('none'), sql: () => undefined };
  const { results: answers } = await runQueries([none], asking({}, sent));
  expect(answers.get(none)).toEqual({ kind: 'known', value: 'absent' });
  expect(sent).toEqual([]);
});

test('without time nothing is sent', async () => {
  const sent: string[] = [];
  const { results: answers } = await runQueries(
    [a],
    asking({}, sent, () => 0),
  );
  expect(sent).toEqual([]);
  expect(answers.get(a)).toEqual({ kind: 'failed', reason: 'no time was left for it' });
});

test('what the first message calls for is asked in a second one, and nothing else', async () => {
  const sent: string[] = [];
  const due: PostgresqlQuery<string> = { ...ask('due'), when: (known) => known(a)?.includes("'a'") === true };
  const idle: PostgresqlQuery<string> = { ...ask('idle'), when: (known) => known(a) === undefined };
  const { results: answers } = await runQueries([due, a, idle], asking({}, sent));
  expect(sent.map((text) => text.match(/SELECT '\w+'/g))).toEqual([["SELECT 'a'"], ["SELECT 'due'"]]);
  expect(answers.get(due)).toEqual({ kind: 'known', value: "SELECT 'due' AS v" });
  expect(answers.get(idle)).toEqual({ kind: 'known', value: 'absent' });
});

test('where the first message has no answer, the second is asked in doubt', async () => {
  const sent: string[] = [];
  const due: PostgresqlQuery<string> = { ...ask('due'), when: (known) => known(a) === undefined };
  const slow = new QueryError('57014', 'canceling statement due to statement timeout', false);
  const { results: answers } = await runQueries([a, due], asking({ "'a'": slow }, sent));
  expect(answers.get(a)).toEqual({ kind: 'failed', reason: slow.message });
  expect(answers.get(due)).toEqual({ kind: 'known', value: "SELECT 'due' AS v" });
});

test('when the connection breaks in the first message, the second is not asked and has the reason', async () => {
  const sent: string[] = [];
  const due: PostgresqlQuery<string> = { ...ask('due'), when: () => true };
  const broken = new QueryError('ECONNRESET', 'the connection was closed', true);
  const { results: answers, lost } = await runQueries([a, due], asking({ "'a'": broken }, sent));
  expect(lost).toBe(broken);
  expect(sent).toHaveLength(1);
  expect(answers.get(due)).toEqual({ kind: 'failed', reason: broken.message });
});

test.each([
  ['schema pg_catalog', 'GRANT USAGE ON SCHEMA pg_catalog TO "u"'],
  ['view pg_roles', 'GRANT SELECT ON pg_catalog.pg_roles TO "u"'],
  ['table pg_database', 'GRANT SELECT ON pg_catalog.pg_database TO "u"'],
  // These are nobody's but superusers' to begin with.
  ['view pg_file_settings', 'GRANT b TO u'],
  ['function pg_show_all_file_settings', 'GRANT b TO u'],
])('what was taken from PUBLIC, %s, is given back: %s', async (what, grant) => {
  const denied = new QueryError('42501', `permission denied for ${what}`, false);
  const { results: answers } = await runQueries([a, b], asking({ "'b'": denied }, []));
  expect(answers.get(b)).toMatchObject({ kind: 'denied', grant });
});

test('a lock that is in the way is told together with how to find who holds it', async () => {
  const locked = new QueryError('55P03', 'canceling statement due to lock timeout', false);
  const { results: answers } = await runQueries([a, b], asking({ "'b'": locked }, []));
  expect(answers.get(b)).toMatchObject({ kind: 'failed', reason: expect.stringContaining('pg_locks') });
});

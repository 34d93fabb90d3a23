import { expect, it } from 'vitest';
import { runQueries, type WatchQuery } from '../../../../src/db/watch/postgresql/query.ts';
import { QueryError } from '../../../../src/postgresql/query-error.ts';

const question = (id: string): WatchQuery<string> => ({
  id,
  sql: () => `SELECT ${id}`,
  decode: ([row]) => row?.value ?? '',
  fallback: 'absent',
});
const [good, bad] = [question('good'), question('bad')];

/** A server that refuses messages with `bad` in them. */
function server(code: string, lost = false) {
  const sent: string[] = [];
  const session = {
    query: async (text: string) => {
      sent.push(text);
      if (text.includes('SELECT bad')) throw new QueryError(code, 'no', lost);
      return text.split('; ').map((part) => (part.startsWith('SELECT') ? [{ value: part }] : []));
    },
  };
  const asking = { session, version: 170_000, limit: 1000, onSent: () => {}, deniedIds: new Set<string>() };
  return { sent, asking };
}

it('all queries are sent in one read-only message', async () => {
  const { sent, asking } = server('42501');
  const { read } = await runQueries([good, question('other')], asking);
  expect([read(good), read(question('other'))]).toEqual(['SELECT good', 'SELECT other']);
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatch(
    /^BEGIN [^;]*, READ ONLY, NOT DEFERRABLE; SET LOCAL role TO none; SET LOCAL .*; SELECT good; SELECT other; COMMIT$/,
  );
});

it('no limit of the role ends the session, where the version knows the setting', async () => {
  const { sent, asking } = server('42501');
  await runQueries([good], asking);
  await runQueries([good], { ...asking, version: 160_000 });
  expect(sent.map((text) => text.includes("; SET LOCAL transaction_timeout='0'; "))).toEqual([true, false]);
});

it('a denied query does not affect the others and is not sent again', async () => {
  const { sent, asking } = server('42501');
  const { read, failure } = await runQueries([good, bad], asking);
  expect([read(good), read(bad)]).toEqual(['SELECT good', 'absent']);
  expect(failure(bad)?.code).toBe('42501');
  expect(sent.filter((text) => text === 'ROLLBACK')).toHaveLength(2);
  const before = sent.length;
  expect((await runQueries([good, bad], asking)).read(good)).toBe('SELECT good');
  expect(sent.length - before).toBe(1);
});

it('a query that timed out is sent again', async () => {
  const { asking } = server('57014');
  expect((await runQueries([good, bad], asking)).failure(bad)?.code).toBe('57014');
  expect(asking.deniedIds.size).toBe(0);
});

it('a query that the version does not support has its fallback and no failure', async () => {
  const { asking, sent } = server('42501');
  const unknown = { ...good, sql: () => undefined };
  const { read, failure } = await runQueries([unknown], asking);
  expect([read(unknown), failure(unknown), sent]).toEqual(['absent', undefined, []]);
});

it('a lost session is reported as lost', async () => {
  const { asking } = server('57P01', true);
  await expect(runQueries([good, bad], asking)).rejects.toMatchObject({ code: '57P01', lost: true });
});

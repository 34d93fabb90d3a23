import { expect, test } from 'vitest';
import { compileQuery } from '../../src/cli/query.ts';

test('an expression chooses and reshapes data', async () => {
  const query = await compileQuery("[?status=='active'].{n: name}");
  expect(
    query([
      { name: 'a', status: 'active' },
      { name: 'b', status: 'off' },
    ]),
  ).toEqual([{ n: 'a' }]);
});

test('rows that are only chosen stay the same objects', async () => {
  const rows = [{ id: 1 }, { id: 2 }];
  const query = await compileQuery('[?id==`2`]');
  expect(query(rows)).toEqual([rows[1]]);
  expect(query(rows)).toSatisfy((found: readonly unknown[]) => found[0] === rows[1]);
});

test.each(['[?', 'a..b', '', 'foo(', '"'])(
  'the bad expression %j is a usage error before any data is there',
  async (text) => {
    await expect(compileQuery(text)).rejects.toMatchObject({
      code: 'usage',
      message: 'cannot use the expression of --query',
    });
  },
);

test('an expression that does not fit the data is a usage error, too', async () => {
  const query = await compileQuery('length(@)');
  expect(() => query(5)).toThrow(expect.objectContaining({ code: 'usage' }));
  await expect(compileQuery('nofunction(@)').then((unknown) => unknown([]))).rejects.toMatchObject({ code: 'usage' });
});

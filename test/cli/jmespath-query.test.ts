import { expect, test } from 'vitest';
import { compileJmespath } from '../../src/cli/jmespath-query.ts';
import { errorText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';

test('an expression chooses and reshapes data', async () => {
  const query = await compileJmespath("[?status=='active'].{n: name}");
  expect(
    query([
      { name: 'a', status: 'active' },
      { name: 'b', status: 'off' },
    ]),
  ).toEqual([{ n: 'a' }]);
});

test('rows that are only chosen stay the same objects', async () => {
  const rows = [{ id: 1 }, { id: 2 }];
  const query = await compileJmespath('[?id==`2`]');
  expect(query(rows)).toEqual([rows[1]]);
  expect(query(rows)).toSatisfy((found: readonly unknown[]) => found[0] === rows[1]);
});

test.each(['[?', 'a..b', '', 'foo(', '"'])(
  'the invalid expression %j is a usage error before any request',
  async (text) => {
    await expect(compileJmespath(text)).rejects.toMatchObject({ code: 'usage', exitCode: 2 });
  },
);

test('the error of an invalid expression shows a valid one', async () => {
  expectGolden('errors', errorText(await compileJmespath('[?').catch((error: unknown) => error)));
});

test('an expression that does not fit the data is a usage error, too', async () => {
  const query = await compileJmespath('length(@)');
  expect(() => query(5)).toThrow(expect.objectContaining({ code: 'usage' }));
  await expect(compileJmespath('nofunction(@)').then((unknown) => unknown([]))).rejects.toMatchObject({
    code: 'usage',
  });
});

test.each([
  ['[].name', true],
  ['[*].{n: name}', true],
  ["[?status=='active']", true],
  ["[?status=='active'].tags[]", true],
  ["[].name | [?starts_with(@, 'a')]", true],
  ['@', true],
  ['[0].name', false],
  ['[:2].name', false],
  ['length(@)', false],
  ['sort_by(@, &id)', false],
  ['[].name | [0]', false],
  ['[].name | length(@)', false],
  ['[?contains($[].name, name)]', false],
  ['{all: [].name}', false],
])('%s looks at each element by itself: %s', async (text, isItemwise) => {
  const query = await compileJmespath(text);
  expect(query.isItemwise).toBe(isItemwise);
  const list = [
    { id: 1, name: 'a', status: 'active', tags: ['x', 'y'] },
    { id: 2, name: 'ab', status: 'off', tags: [] },
    { id: 3, name: 'b', status: 'active', tags: ['z'] },
  ];
  const parts = [list.slice(0, 1), list.slice(1)].map((part) => query(part));
  if (isItemwise) expect(parts.flat()).toEqual(query(list));
});

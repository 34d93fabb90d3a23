import { expect, test } from 'vitest';
import { prepareJmespathResultForOutput, prepareObjectForOutput, prepareRowsForOutput } from '../../src/cli/print.ts';

const row = { a: 1, b: 'x' };
const view = { columns: [{ name: 'A', value: (value: typeof row) => value.a }] };

test('rows keep their data beside their cells', () => {
  expect(prepareRowsForOutput([row], view, undefined)).toMatchObject({
    kind: 'rows',
    names: ['A'],
    cells: [[1]],
    data: [row],
  });
  expect(prepareRowsForOutput([row], view, ['a'])).toMatchObject({ data: [{ A: 1 }] });
  expect(prepareObjectForOutput(row, view, undefined)).toMatchObject({
    kind: 'object',
    names: ['A'],
    cells: [1],
    data: row,
  });
});

test.each([
  [[row], 'rows', ['A']],
  [[{ a: 1, b: 'x' }], 'rows', ['a', 'b']],
  [row, 'object', ['A']],
  [{ z: 1 }, 'object', ['z']],
  [[], 'rows', ['A']],
] as const)('%j is shown by the columns it has', (result, kind, names) => {
  expect(prepareJmespathResultForOutput(result, view, [row], undefined)).toMatchObject({ kind, names });
});

test.each([
  [[1, 'a', null], { kind: 'values', cells: [[1], ['a'], [null]] }],
  [[[1, 2], [3]], { kind: 'values', cells: [[1, 2], [3]] }],
  [[{ a: 1 }, 2], { kind: 'values', cells: [['{"a":1}'], [2]] }],
  ['text', { kind: 'value', cell: 'text' }],
  [null, { kind: 'value', cell: null }],
])('%j has no columns', (result, expected) => {
  expect(prepareJmespathResultForOutput(result, view, [row], undefined)).toMatchObject(expected);
});

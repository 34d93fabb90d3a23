import { expect, test } from 'vitest';
import { columnsOfRows, pickColumns, rowObject, toCell } from '../../src/cli/columns.ts';
import { thrownText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';

interface Row {
  readonly id: number;
  readonly name: string;
}

const known = [
  { name: 'ID', value: (row: Row) => row.id },
  { name: 'Name', value: (row: Row) => row.name },
  { name: 'Length', value: (row: Row) => row.name.length, extra: true },
];

const names = (columns: readonly { readonly name: string }[]) => columns.map(({ name }) => name);

test('without --format all columns are printed except the extra ones', () => {
  expect(names(pickColumns(known, undefined))).toEqual(['ID', 'Name']);
  expect(names(pickColumns(known, []))).toEqual(['ID', 'Name']);
});

test('a choice is in its own order, and case does not matter', () => {
  expect(names(pickColumns(known, ['length', 'ID']))).toEqual(['Length', 'ID']);
});

test('an unknown column is a usage error that lists the known ones', () => {
  const text = thrownText(() => pickColumns(known, ['Nmae']));
  expect(text).toContain('ID, Name, Length');
  expect(text).toContain('`--format Name`');
  expectGolden('errors', text);
});

test('picked columns become an object with their names as keys', () => {
  expect(rowObject({ id: 1, name: 'a' }, pickColumns(known, ['name', 'id']))).toEqual({
    Name: 'a',
    ID: 1,
  });
});

test('the columns of unknown data are its keys in the order they are met', () => {
  const columns = columnsOfRows([{ b: 1 }, { a: [1], b: null }]);
  expect(names(columns)).toEqual(['b', 'a']);
  expect(columns.map(({ value }) => value({ a: [1], b: null }))).toEqual([null, '[1]']);
  expect(columnsOfRows([{ toString: 1 }]).map(({ value }) => value({}))).toEqual([undefined]);
});

test('a cell is a scalar or JSON', () => {
  expect([toCell('x'), toCell(1), toCell(false), toCell(null), toCell(undefined), toCell({ a: 1 })]).toEqual([
    'x',
    1,
    false,
    null,
    undefined,
    '{"a":1}',
  ]);
});

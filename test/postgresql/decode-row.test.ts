import { expect, it } from 'vitest';
import {
  decodeBooleanColumn,
  decodeNumberColumnOrZero,
  decodeOptionalNumberColumn,
  decodeOptionalTextColumn,
  decodeTextArrayColumn,
  decodeTextColumn,
} from '../../src/postgresql/rows.ts';

const row = {
  text: 'a',
  number: '1.5',
  word: 'NaN',
  empty: '',
  yes: 't',
  no: 'f',
  array: '{a,NULL,"b c"}',
  none: null,
};

it('decodes the values that PostgreSQL sends as text', () => {
  expect(decodeTextColumn(row, 'text')).toBe('a');
  expect(decodeOptionalTextColumn(row, 'text')).toBe('a');
  expect(decodeNumberColumnOrZero(row, 'number')).toBe(1.5);
  expect([decodeBooleanColumn(row, 'yes'), decodeBooleanColumn(row, 'no')]).toEqual([true, false]);
  expect(decodeTextArrayColumn(row, 'array')).toEqual(['a', 'b c']);
});

it('decodes a text that is not a number as no number', () => {
  expect(decodeOptionalNumberColumn(row, 'word')).toBeUndefined();
  expect(decodeOptionalNumberColumn(row, 'empty')).toBeUndefined();
});

it.each([
  ['NULL', row, 'none'],
  ['a missing column', row, 'other'],
  ['a missing row', undefined, 'text'],
] as const)('decodes %s as no value', (_what, from, column) => {
  expect(decodeTextColumn(from, column)).toBe('');
  expect(decodeOptionalTextColumn(from, column)).toBeUndefined();
  expect(decodeNumberColumnOrZero(from, column)).toBe(0);
  expect(decodeOptionalNumberColumn(from, column)).toBeUndefined();
  expect(decodeBooleanColumn(from, column)).toBe(false);
  expect(decodeTextArrayColumn(from, column)).toEqual([]);
});

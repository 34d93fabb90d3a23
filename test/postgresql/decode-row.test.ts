import { expect, it } from 'vitest';
import {
  decodeBoolean,
  decodeNumber,
  decodeOptionalNumber,
  decodeOptionalText,
  decodeText,
  decodeTextArray,
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
  expect(decodeText(row, 'text')).toBe('a');
  expect(decodeOptionalText(row, 'text')).toBe('a');
  expect(decodeNumber(row, 'number')).toBe(1.5);
  expect([decodeBoolean(row, 'yes'), decodeBoolean(row, 'no')]).toEqual([true, false]);
  expect(decodeTextArray(row, 'array')).toEqual(['a', 'b c']);
});

it('decodes a text that is not a number as no number', () => {
  expect(decodeOptionalNumber(row, 'word')).toBeUndefined();
  expect(decodeOptionalNumber(row, 'empty')).toBeUndefined();
});

it.each([
  ['NULL', row, 'none'],
  ['a missing column', row, 'other'],
  ['a missing row', undefined, 'text'],
] as const)('decodes %s as no value', (_what, from, column) => {
  expect(decodeText(from, column)).toBe('');
  expect(decodeOptionalText(from, column)).toBeUndefined();
  expect(decodeNumber(from, column)).toBe(0);
  expect(decodeOptionalNumber(from, column)).toBeUndefined();
  expect(decodeBoolean(from, column)).toBe(false);
  expect(decodeTextArray(from, column)).toEqual([]);
});

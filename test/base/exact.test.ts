import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { isLossless, parseExact, stringifyExact } from '../../src/base/exact.ts';

describe('a number that a double would change', () => {
  it.each([
    '9007199254740993',
    '-9007199254740993',
    '123456789012345678901234567890',
    '0.1234567890123456789',
    '1.0',
    '1.50',
    '0.00',
    '-0',
    '-0.0',
    '1e3',
    '1E+3',
    '1e400',
    '0.0000001',
    '100000000000000000000000',
  ])('leaves as it came: %s', (text) => {
    for (const json of [text, `[${text}]`, `{"id":${text}}`, `{"a":[{"b":"x"},[${text},1]],"c":${text}}`]) {
      expect(stringifyExact(parseExact(json))).toBe(json);
      expect(stringifyExact(parseExact(` ${json.replaceAll(':', ' :\n ')} `))).toBe(json);
    }
    expect(isLossless(parseExact(text))).toBe(true);
    expect(String(parseExact(text))).toBe(text);
  });
});

it.each([
  '0',
  '7',
  '-1',
  '1.5',
  '0.00744',
  '9007199254740991',
  '9007199254740992',
  '1234567890.123456',
  '[]',
  '{}',
  '"1.0"',
])('a text that says the same as a double is what JSON.parse makes of it: %s', (text) => {
  const value = parseExact(text);
  expect(value).toEqual(JSON.parse(text));
  expect(isLossless(value)).toBe(false);
});

test('a text in which such a number stands is otherwise what JSON.parse makes of it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
      const around = JSON.stringify([value, { id: 7_777_777, value }], null, indent);
      const json = around.replace('7777777', '9007199254740993');
      expect(stringifyExact(parseExact(json), indent)).toBe(json);
    }),
  );
});

test.each([
  '{"a":1,"a":1.0}',
  '{"__proto__":1.0}',
  '{"2":1.0,"1":2}',
  '["\\"1.0\\\\",1.0]',
  '["\\u0041\\n",{"k\\"":1.0}]',
])('names and strings are read as JSON.parse reads them: %s', (json) => {
  const own = JSON.parse(stringifyExact(parseExact(json)) ?? '');
  expect(Object.entries(own)).toEqual(Object.entries(JSON.parse(json)));
});

test('a string that looks like the mark of such a number stays a string', () => {
  expect(stringifyExact(['\uFDD0', parseExact('1.0')])).toBe('["\uFDD0",1.0]');
  expect(stringifyExact(['\uFDD0'], 2)).toBe(JSON.stringify(['\uFDD0'], null, 2));
});

test('what JSON has no word for is written as JSON.stringify writes it', () => {
  const value = { date: new Date(0), gone: undefined, list: [undefined, () => 1], id: parseExact('1.0') };
  expect(stringifyExact(value)).toBe('{"date":"1970-01-01T00:00:00.000Z","list":[null,null],"id":1.0}');
  expect(stringifyExact(undefined)).toBeUndefined();
});

test('a text that is none is refused as JSON.parse refuses it', () => {
  for (const text of ['', '01', '[1.0', '{"a":1.0,}', '1.0 2', '9007199254740993x'])
    expect(() => parseExact(text)).toThrow(SyntaxError);
});

test('a text may be as deep as JSON.parse lets it', () => {
  const deep = `${'['.repeat(3000)}1.0${']'.repeat(3000)}`;
  expect(stringifyExact(parseExact(deep))).toBe(deep);
});

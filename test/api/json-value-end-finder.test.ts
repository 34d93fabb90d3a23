import fc from 'fast-check';
import { expect, it } from 'vitest';
import { noJsonValue, skipJsonArray, skipJsonObject, skipJsonValue } from '../../src/api/json-value-end-finder.ts';

const endOf = (text: string): number => skipJsonValue(Buffer.from(text), 0);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

it('every JSON value ends where its text ends', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      // What follows a value is no part of it.
      expect(skipJsonValue(Buffer.from(`[${text},1`), 1)).toBe(1 + Buffer.byteLength(text));
    }),
  );
});

it.each([
  '0',
  '-0',
  '10.25',
  '1e5',
  '1E+5',
  '-1.5e-05',
  '""',
  '"\\u00e9\\n\\""',
  '[ ]',
  '{ }',
  '[1 , 2]',
  '{"a" :\t[{}]}',
])('%s is a value', (text) => {
  expect(endOf(text)).toBe(text.length);
});

it.each([
  '',
  '-',
  '.5',
  '1.',
  '1e',
  '1e+',
  'nul',
  'True',
  '"',
  '"a',
  '"\\x"',
  '"\\u12g4"',
  '"\\u12',
  '"\t"',
  '[1,]',
  '[,1]',
  '[1 2]',
  '{"a"}',
  '{"a":}',
  '{a:1}',
  '{"a":1,}',
  '{"a":1',
  "'a'",
  '[\n1]',
])('%j is none', (text) => {
  expect(endOf(text)).toBe(noJsonValue);
});

it('a text with one place damaged is a value when and only when the parser takes it', () => {
  const text = '{"a":[1.5e-3,true,null,"x\\\\\\u00e9"],"b":{"c":false,"d":[]}}';
  const damage = fc.constantFrom('', '"', '{', '}', '[', ']', ',', ':', '\\', '0', '-', '.', 'e', 'u', ' ', '\t', 'x');
  fc.assert(
    fc.property(fc.nat(text.length), fc.nat(3), damage, (at, cut, put) => {
      const damaged = text.slice(0, at) + put + text.slice(at + cut);
      const begin = damaged.length - damaged.trimStart().length;
      const isWhole = skipJsonValue(Buffer.from(damaged), begin) === damaged.trimEnd().length;
      expect(isWhole).toBe(isJson(damaged));
    }),
    { numRuns: 5_000 },
  );
});

it('values in values without end are none, and do not end the program', () => {
  expect(endOf('['.repeat(1_000_000))).toBe(noJsonValue);
  expect(endOf('{"a":'.repeat(1_000_000))).toBe(noJsonValue);
  expect(endOf(`${'['.repeat(150)}${']'.repeat(150)}`)).toBe(300);
});

it('a reader is given where values begin and says where they end', () => {
  const bytes = Buffer.from('{"a": 1, "bc":[2,33]}');
  const seen: string[] = [];
  const end = skipJsonObject(bytes, 0, (from, key, keyEnd) => {
    seen.push(bytes.toString('utf8', key, keyEnd));
    if (bytes[from] !== 0x5b) return skipJsonValue(bytes, from);
    return skipJsonArray(bytes, from, (at) => {
      const to = skipJsonValue(bytes, at);
      seen.push(bytes.toString('utf8', at, to));
      return to;
    });
  });
  expect([end, seen]).toEqual([bytes.length, ['"a"', '"bc"', '2', '33']]);
  expect(skipJsonObject(bytes, 0, () => noJsonValue)).toBe(noJsonValue);
  expect(skipJsonArray(Buffer.from('[1]'), 0, () => noJsonValue)).toBe(noJsonValue);
});

import { describe, expect, it } from 'vitest';
import {
  isJsonRecord,
  maxJsonDepth,
  readNumberField,
  readStringField,
  tryParseExactJson,
  tryParseJson,
} from '../../src/base/json.ts';

it('a text that is no JSON fails without a message that quotes it', () => {
  const notJson = { ok: false, reason: expect.not.stringContaining('hunter2'), isTooDeep: false };
  expect(tryParseJson('{"access_token": hunter2}')).toEqual(notJson);
  expect(tryParseJson('')).toEqual(notJson);
  expect(tryParseJson('null')).toEqual({ ok: true, value: null });
  expect(tryParseJson('\uFEFF{"a":1}')).toEqual({ ok: true, value: { a: 1 } });
  expect(tryParseJson('\uFEFF\uFEFF{}')).toEqual(notJson);
});

describe.each([tryParseJson, tryParseExactJson])('the depth of JSON that is parsed by %o', (parse) => {
  it.each([1, 200, maxJsonDepth])('%i levels are parsed', (levels) => {
    expect(parse(`${'['.repeat(levels)}1.0${']'.repeat(levels)}`).ok).toBe(true);
    expect(parse(`${'{"a":'.repeat(levels)}"[{"${'}'.repeat(levels)}`).ok).toBe(true);
  });

  it.each([maxJsonDepth + 1, 6_000, 20_000, 2_000_000])('%i levels are refused', (levels) => {
    expect(parse('['.repeat(levels) + ']'.repeat(levels))).toMatchObject({ ok: false, isTooDeep: true });
    expect(parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)).toMatchObject({ ok: false, isTooDeep: true });
  });

  it('brackets in strings and beside each other do not count', () => {
    const text = JSON.stringify({ a: '[{"\\'.repeat(5_000), b: Array.from({ length: 5_000 }, () => [{}]) });
    expect(parse(text)).toMatchObject({ ok: true, value: JSON.parse(text) });
  });
});

it.each([
  [{}, true],
  [{ a: 1 }, true],
  [null, false],
  [[], false],
  ['x', false],
  [undefined, false],
])('isRecord(%j) is %j', (value, expected) => {
  expect(isJsonRecord(value)).toBe(expected);
});

it('a member of the wrong type counts as absent', () => {
  const record = { text: 'x', number: 0, odd: Number.POSITIVE_INFINITY, digits: '1' };
  expect([readStringField(record, 'text'), readStringField(record, 'number'), readStringField(record, 'none')]).toEqual(
    ['x', undefined, undefined],
  );
  expect([
    readNumberField(record, 'number'),
    readNumberField(record, 'odd'),
    readNumberField(record, 'digits'),
  ]).toEqual([0, undefined, undefined]);
});

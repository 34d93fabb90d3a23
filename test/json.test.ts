import { expect, it } from 'vitest';
import { isRecord, numberField, parseJson, stringField } from '../src/json.ts';

it('a text that is no JSON fails without a message that quotes it', () => {
  expect(parseJson('{"access_token": hunter2}')).toEqual({ ok: false });
  expect(parseJson('')).toEqual({ ok: false });
  expect(parseJson('null')).toEqual({ ok: true, value: null });
  expect(parseJson('\uFEFF{"a":1}')).toEqual({ ok: true, value: { a: 1 } });
  expect(parseJson('\uFEFF\uFEFF{}')).toEqual({ ok: false });
});

it.each([
  [{}, true],
  [{ a: 1 }, true],
  [null, false],
  [[], false],
  ['x', false],
  [undefined, false],
])('isRecord(%j) is %j', (value, expected) => {
  expect(isRecord(value)).toBe(expected);
});

it('a member of the wrong type counts as absent', () => {
  const record = { text: 'x', number: 0, odd: Number.POSITIVE_INFINITY, digits: '1' };
  expect([stringField(record, 'text'), stringField(record, 'number'), stringField(record, 'none')]).toEqual([
    'x',
    undefined,
    undefined,
  ]);
  expect([numberField(record, 'number'), numberField(record, 'odd'), numberField(record, 'digits')]).toEqual([
    0,
    undefined,
    undefined,
  ]);
});

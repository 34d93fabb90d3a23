import { describe, expect, it, test } from 'vitest';
import { parseExactJsonOrThrow, stringifyExact } from '../../src/base/exact.ts';
import { compileJmespath, replaceLosslessNumbersWithDoubles } from '../../src/cli/query.ts';

const list = `[{"id":9007199254740993,"name":"b"},{"id":9007199254740992,"name":"a","size":{"price":1.50}},{"id":7,"name":"c"},{"id":9007199254740995}]`;

async function queried(json: string, expression: string): Promise<string | undefined> {
  return stringifyExact((await compileJmespath(expression))(parseExactJsonOrThrow(json)));
}

describe('a query that only passes numbers on leaves their digits', () => {
  it.each([
    ['@', list],
    ['[].id', '[9007199254740993,9007199254740992,7,9007199254740995]'],
    ["[?name=='b'].id", '[9007199254740993]'],
    ["[?name=='b'].{Id: id, is: name}", '[{"Id":9007199254740993,"is":"b"}]'],
    ['[1]', '{"id":9007199254740992,"name":"a","size":{"price":1.50}}'],
    ['[1].size', '{"price":1.50}'],
    ['sort_by(@, &id)[].id', '[7,9007199254740992,9007199254740993,9007199254740995]'],
    ['max_by(@, &id).id', '9007199254740995'],
    ['[?id > `7`].name', '["b","a"]'],
    ['length(@)', '4'],
  ])('%s', async (expression, expected) => {
    expect(await queried(list, expression)).toBe(expected);
  });
});

test('neighbours of which all are the same double keep their own digits, and their order', async () => {
  const ids = ['12345678901234567889', '12345678901234567890', '12345678901234567891'];
  expect(await queried(`[${ids.toReversed()}]`, 'sort(@)')).toBe(`[${ids}]`);
});

test('a number between two that are doubles keeps its place', async () => {
  const ids = ['9007199254740992', '9007199254740993', '9007199254740994'];
  expect(await queried(`[${ids.toReversed()}]`, 'sort(@)')).toBe(`[${ids}]`);
  expect(await queried(`[${ids}]`, '[?@ > `9007199254740993`]')).toBe('[9007199254740994]');
});

test('below nothing as well', async () => {
  const json = '[-9007199254740995,-9007199254740993,-9007199254740992]';
  expect(await queried(json, '[?@ < `0`]')).toBe(json);
});

test('rows that were chosen are the rows that were there', async () => {
  const rows = parseExactJsonOrThrow(list);
  const chosen = (await compileJmespath("[?name=='b'] | [0]"))(rows);
  expect(Array.isArray(rows) && rows[0] === chosen).toBe(true);
});

test('data without such numbers needs none in their place', () => {
  expect(replaceLosslessNumbersWithDoubles(JSON.parse('[{"id":9007199254740992,"n":1.5}]'))).toBeUndefined();
});

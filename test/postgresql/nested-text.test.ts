import { expect, test } from 'vitest';
import { parseArray, parseComposite } from '../../src/postgresql/rows.ts';

test.each([
  ['{}', []],
  ['{a,b}', ['a', 'b']],
  ['{NULL,"NULL",""}', [null, 'NULL', '']],
  ['{"a,b","c\\"d","e\\\\f","{g}"," h "}', ['a,b', 'c"d', 'e\\f', '{g}', ' h ']],
  ['{{a,b},{c,NULL}}', ['a', 'b', 'c', null]],
  ['[0:1]={a,b}', ['a', 'b']],
  ['{"line\nbreak"}', ['line\nbreak']],
])('the array %s has the elements %j', (text, elements) => {
  expect(parseArray(text)).toEqual(elements);
});

test.each([
  ['()', [null]],
  ['(a,b)', ['a', 'b']],
  ['(,"",)', [null, '', null]],
  ['("a,b","c""d","e\\\\f","(g)")', ['a,b', 'c"d', 'e\\f', '(g)']],
  ['("{1,2}","(1,""x"")")', ['{1,2}', '(1,"x")']],
])('the composite value %s has the fields %j', (text, fields) => {
  expect(parseComposite(text)).toEqual(fields);
});

test('any other text is refused', () => {
  expect(() => parseArray('a,b')).toThrow(TypeError);
  expect(() => parseComposite('a,b')).toThrow(TypeError);
});

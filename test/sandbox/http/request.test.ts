import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../src/sandbox/http/request.ts';

describe('parseJsonText reports repeated keys', () => {
  it.each([
    ['{"a":1,"a":1}', [{ name: 'a', equal: true }]],
    ['{"a":1,"a":2}', [{ name: 'a', equal: false }]],
    ['{"a":{"b":[1,{"c":2}]},"x":0,"a":{ "b" : [ 1 , { "c" : 2 } ] }}', [{ name: 'a', equal: true }]],
    ['{"a":"}","b":"{,\\"","a":"}"}', [{ name: 'a', equal: true }]],
    ['{"\\u0061":1,"a":1}', [{ name: 'a', equal: true }]],
    ['{"a":{"b":1,"b":2}}', []],
    ['[{"a":1,"a":2}]', []],
    [' {} \n', []],
  ])('%s', (text, repeated) => {
    expect(parseJson(text)?.repeated).toEqual(repeated);
  });

  it('no repeated key is reported for unique keys, whatever the values', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const text = JSON.stringify(value);
        expect(parseJson(text)).toEqual({ value: JSON.parse(text), repeated: [] });
      }),
    );
  });

  it('a repeated key is found', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), fc.jsonValue(), (name, one, two) => {
        const member = (value: unknown): string => `${JSON.stringify(name)}:${JSON.stringify(value)}`;
        const equal =
          JSON.stringify(JSON.parse(JSON.stringify(one))) === JSON.stringify(JSON.parse(JSON.stringify(two)));
        expect(parseJson(`{${member(one)},${member(two)}}`)?.repeated).toEqual([{ name, equal }]);
      }),
    );
  });

  it.each(['', '{', 'undefined', "{'a':1}", '{"a":1,}', 'NaN'])('%j is not JSON', (text) => {
    expect(parseJson(text)).toBeUndefined();
  });
});

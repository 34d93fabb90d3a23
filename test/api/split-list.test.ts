import fc from 'fast-check';
import { expect, it } from 'vitest';
import { splitList } from '../../src/api/split-list.ts';

it('a list is taken apart into its objects, to the letter, and what remains', () => {
  const text =
    '{"a":{"droplets":[{"x":1}]},"droplets":[{"id":12345678901234567890,"n":"}\\"]"},{}],"meta":{"total":2}}';
  expect(splitList(text, 'droplets')).toEqual({
    texts: ['{"id":12345678901234567890,"n":"}\\"]"}', '{}'],
    rest: '{"a":{"droplets":[{"x":1}]},"droplets":[null,null],"meta":{"total":2}}',
  });
});

it('any list of objects, whatever is in them and around them, comes together again', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(fc.array(object), fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (list, around, key) => {
      const split = splitList(JSON.stringify({ ...around, [key]: list }), key);
      const whole = JSON.parse(JSON.stringify({ ...around, [key]: list }));
      expect(split?.texts.map((text) => JSON.parse(text))).toEqual(whole[key]);
      expect(JSON.parse(split?.rest ?? '')).toEqual({ ...whole, [key]: list.map(() => null) });
    }),
  );
});

it('what is no JSON stays none, and ends', () => {
  const text = '{"droplets":[{"id":1,"name":"a\\\\"},{"id":2}],"meta":{"total":2}}';
  const isJson = (part: string): boolean => {
    try {
      JSON.parse(part);
      return true;
    } catch {
      return false;
    }
  };
  fc.assert(
    fc.property(
      fc.nat(text.length),
      fc.nat(3),
      fc.constantFrom('', '"', '{', '}', '[', ']', ',', '\\', 'x'),
      (at, cut, put) => {
        const damaged = text.slice(0, at) + put + text.slice(at + cut);
        const split = splitList(damaged, 'droplets');
        if (split === undefined || isJson(damaged)) return;
        expect([split.rest, ...split.texts].every(isJson)).toBe(false);
      },
    ),
    { numRuns: 2_000 },
  );
});

it.each(['{"droplets":[{}],\n"meta":{}}', '{"droplets":[{}],\r"meta":{}}', '{"droplets":[{}],"droplets":[{},{}]}'])(
  '%j is left to the parser',
  (text) => {
    expect(splitList(text, 'droplets')).toBeUndefined();
  },
);

it('an object without such a list has no texts and stays whole', () => {
  expect(splitList('{"meta":{"total":0}}', 'droplets')).toEqual({ texts: [], rest: '{"meta":{"total":0}}' });
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createJsonListSplitter, type SplitJsonList } from '../../src/api/json-list-splitter.ts';

/** The list taken apart by a splitter of its own, with the texts of its objects. */
function splitOf(text: string, key = 'droplets', members: readonly string[] = []) {
  return withTexts(Buffer.from(text), createJsonListSplitter(key, members)(Buffer.from(text)));
}

function withTexts(bytes: Buffer, split: SplitJsonList | undefined) {
  if (split === undefined) return undefined;
  const { spans, partialItems: skims, rest } = split;
  const begins = spans.filter((_, at) => at % 2 === 0);
  return { texts: begins.map((from, at) => bytes.toString('utf8', from, spans[2 * at + 1])), skims, rest };
}

it('a list is taken apart into its objects, to the letter, and what remains', () => {
  const text =
    '{"a":{"droplets":[{"x":1}]},"droplets":[{"id":12345678901234567890,"n":"}\\"]"}, {}],"meta":{"total":2}}';
  expect(splitOf(text)).toEqual({
    texts: ['{"id":12345678901234567890,"n":"}\\"]"}', '{}'],
    skims: [{}, {}],
    rest: '{"a":{"droplets":[{"x":1}]},"droplets":[],"meta":{"total":2}}',
  });
});

it('the members that are asked for are given of each object, and no others', () => {
  const text = '{"droplets":[{"n":{"id":7},"id":1,"name":"é","x":0},{"\\u0069d":2,"id":3},{"ids":4}]}';
  const split = splitOf(text, 'droplets', ['name', 'id']);
  expect(split?.skims).toEqual([{ id: 1, name: 'é' }, { id: 3 }, {}]);
});

it('any list of objects, whatever is in them and around them, comes together again', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(fc.array(object), fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (list, around, key) => {
      // They are words of ours, and none of them names a prototype.
      const members = Object.keys(list[0] ?? {})
        .filter((name) => name !== '__proto__')
        .slice(0, 2);
      const text = JSON.stringify({ ...around, [key]: list });
      const split = splitOf(text, key, members);
      const whole = JSON.parse(text);
      expect(split?.texts.map((one) => JSON.parse(one))).toEqual(whole[key]);
      expect(JSON.parse(split?.rest ?? '')).toEqual({ ...whole, [key]: [] });
      const wanted = (one: object) =>
        Object.fromEntries(Object.entries(one).filter(([name]) => members.includes(name)));
      expect(split?.skims).toEqual(whole[key].map(wanted));
    }),
  );
});

it('pages of like objects are taken apart as if each were the first', () => {
  const image = (slug: string) => ({ slug, regions: Array.from({ length: 60 }, (_, at) => `region-${at}`) });
  const kinds = ['a', 'b', 'c', 'd', 'e', 'f', 'ä', 'g"'].map(image);
  const split = createJsonListSplitter('droplets', ['id', 'image']);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(), fc.constantFrom(...kinds), fc.constantFrom(...kinds))), (drawn) => {
      const droplets = drawn.map(([id, one, other]) => ({ image: one, id, other, i2345: one }));
      const bytes = Buffer.from(JSON.stringify({ droplets, meta: {} }));
      const page = withTexts(bytes, split(bytes));
      expect(page?.texts).toEqual(droplets.map((droplet) => JSON.stringify(droplet)));
      expect(page?.skims).toEqual(droplets.map(({ id, image }) => ({ id, image })));
    }),
  );
});

it('what is no JSON stays none, and ends', () => {
  const texts = ['a', 'a\\\\'].map((name) => `{"droplets":[{"id":1,"name":"${name}"},{"id":2}],"meta":{"total":2}}`);
  const damage = fc.constantFrom('', '"', '{', '}', '[', ']', ',', '\\', 'x');
  const isJson = (part: string): boolean => {
    try {
      JSON.parse(part);
      return true;
    } catch {
      return false;
    }
  };
  fc.assert(
    fc.property(fc.constantFrom(...texts), fc.nat(80), fc.nat(3), damage, (text, at, cut, put) => {
      const damaged = text.slice(0, at) + put + text.slice(at + cut);
      // What follows the list is for whoever reads the rest.
      if (!isJson(damaged)) expect(isJson(splitOf(damaged)?.rest ?? '')).toBe(false);
    }),
    { numRuns: 4_000 },
  );
});

it.each([
  '{"droplets":[{},\n{}],"meta":{}}',
  '{"droplets":[{}\r],"meta":{}}',
  '{"droplets":[{}],"droplets":[{},{}]}',
  '{"droplets":[{}],"droplet\\u0073":[{},{}]}',
  '{"droplets":{}}',
  '{"droplets":[{},1]}',
  '[{"droplets":[{}]}]',
])('%j is left to the parser', (text) => {
  expect(splitOf(text)).toBeUndefined();
});

it('an object without such a list has no texts and stays whole', () => {
  const text = '{"meta":{"total":0}}';
  expect(splitOf(text)).toEqual({ texts: [], skims: [], rest: text });
});

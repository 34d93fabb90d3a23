import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { globMatcher, take, where } from '../../src/api/select.ts';

describe('a pattern for names', () => {
  it.each([
    ['web-*', 'web-01', true],
    ['web-*', 'web-', true],
    ['web-*', 'xweb-01', false],
    ['*', '', true],
    ['web-?', 'web-1', true],
    ['web-?', 'web-10', false],
    ['web-[0-9]', 'web-7', true],
    ['web-[0-9]', 'web-a', false],
    ['web-[!0-9]', 'web-a', true],
    ['web-[!0-9]', 'web-7', false],
    ['web-[^7]', 'web-7', true],
    ['a.b', 'a.b', true],
    ['a.b', 'axb', false],
    ['a(b', 'a(b', true],
    ['a|b', 'a', false],
    ['a/b', 'a/b', true],
    ['a\\b', 'a\\b', true],
    ['[', '[', true],
    ['a]', 'a]', true],
    ['Web-*', 'web-1', false],
    ['a*', 'a\nb', true],
  ])('%j on %j: %j', (pattern, name, matches) => {
    expect(globMatcher(pattern)(name)).toBe(matches);
  });

  it('without special characters matches itself alone', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, other) => {
        fc.pre(!/[*?[]/.test(text));
        expect(globMatcher(text)(text)).toBe(true);
        expect(globMatcher(text)(other)).toBe(text === other);
      }),
    );
  });

  it('with a range that runs backwards is no pattern', () => {
    expect(() => globMatcher('[z-a]')).toThrow(SyntaxError);
  });
});

async function* numbers(asked: number[]) {
  for (let at = 1; ; at++) {
    asked.push(at);
    yield at;
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

it('a limit asks the source for no more than it gives', async () => {
  const asked: number[] = [];
  expect(await all(take(numbers(asked), 3))).toEqual([1, 2, 3]);
  expect(asked).toEqual([1, 2, 3]);
});

it('a limit counts what passed the filter', async () => {
  const even = where(numbers([]), (item) => item % 2 === 0);
  expect(await all(take(even, 2))).toEqual([2, 4]);
});

it('no limit gives everything', async () => {
  const three = take(numbers([]), 3);
  expect(await all(take(three, undefined))).toEqual([1, 2, 3]);
});

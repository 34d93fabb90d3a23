import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createGlobMatcher } from '../../src/api/list.ts';

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
    expect(createGlobMatcher(pattern)(name)).toBe(matches);
  });

  it('without special characters matches itself alone', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, other) => {
        fc.pre(!/[*?[]/.test(text));
        expect(createGlobMatcher(text)(text)).toBe(true);
        expect(createGlobMatcher(text)(other)).toBe(text === other);
      }),
    );
  });

  it('with a range that runs backwards is no pattern', () => {
    expect(() => createGlobMatcher('[z-a]')).toThrow(SyntaxError);
  });
});

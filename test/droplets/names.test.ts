import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CliError } from '../../src/base/errors.ts';
import { expandNames } from '../../src/droplets/names.ts';
import { expectGolden } from '../fixtures/golden.ts';

describe('expand droplet names', () => {
  function refusal(patterns: readonly string[]): CliError {
    try {
      expandNames(patterns);
    } catch (error) {
      if (error instanceof CliError) return error;
      throw error;
    }
    throw new Error('they were taken');
  }

  describe('names', () => {
    it.each([
      [['web'], ['web']],
      [['web-{1..3}'], ['web-1', 'web-2', 'web-3']],
      [['web-{08..11}'], ['web-08', 'web-09', 'web-10', 'web-11']],
      [['web-{8..011}'], ['web-008', 'web-009', 'web-010', 'web-011']],
      [['web-{3..1}'], ['web-3', 'web-2', 'web-1']],
      [['web-{0..1}'], ['web-0', 'web-1']],
      [['web-{7..7}'], ['web-7']],
      [['web-{1..10..3}'], ['web-1', 'web-4', 'web-7', 'web-10']],
      [['web-{10..01..4}'], ['web-10', 'web-06', 'web-02']],
      [['web-{1..3..9}'], ['web-1']],
      [['{0..999999999..500000000}'], ['0', '500000000']],
      [['web-{a..c}'], ['web-a', 'web-b', 'web-c']],
      [['{Z..V..2}{1..2}'], ['Z1', 'Z2', 'X1', 'X2', 'V1', 'V2']],
      [['{a,b}'], ['a', 'b']],
      [['{a,b}-{1..2}'], ['a-1', 'a-2', 'b-1', 'b-2']],
      [['x{,y}'], ['x', 'xy']],
      [
        ['b', 'a'],
        ['b', 'a'],
      ],
      [[' padded '], ['padded']],
      [['A.b-9'], ['A.b-9']],
      [['x'.repeat(255)], ['x'.repeat(255)]],
      [[], []],
    ])('%j are %j', (patterns, names) => {
      expect(expandNames(patterns)).toEqual(names);
    });

    it.each([
      ['', '(blank)'],
      ['   ', '(blank)'],
      ['-web', '-web'],
      ['web-', 'web-'],
      ['.web', '.web'],
      ['we b', 'we b'],
      ['web_1', 'web_1'],
      ['wéb', 'wéb'],
      ['web-{1..}', 'web-{1..}'],
      ['web-{a}', 'web-{a}'],
      ['web-{1', 'web-{1'],
      ['web-{1..9..0}', 'web-{1..9..0}'],
      ['web-{a..Z}', 'web-{a..Z}'],
      ['web-{a..9}', 'web-{a..9}'],
      ['a\u200b', 'a\\u200b'],
      ['a\0b', 'a\\u0000b'],
      ['a\rb', 'a\\u000db'],
      ['a\u00a0b', 'a\\u00a0b'],
      ['{a,{b,c}}', '{a,b}'],
      ['x'.repeat(256), 'x'.repeat(77)],
    ])('%j cannot be used and is named', (pattern, named) => {
      const error = refusal(['good', pattern]);
      expect(error).toMatchObject({ code: 'usage', exitCode: 2 });
      expect(error.detail).toContain(named);
      expect(error.detail).not.toContain('good');
    });

    it('given twice are named once each, wherever they came from', () => {
      const error = refusal(['web-{1..3}', 'web-2', 'db', 'web-2', 'db']);
      expectGolden('droplets', `${error.message}\n${error.hint}`);
      expect(error.detail).toBe('web-2, db');
    });

    it('of a file are named with their lines, and a comment with how to leave it out', () => {
      const lines = ['# web servers', 'web-1', '', 'web_2'];
      const file = (name: string) => {
        try {
          return expandNames(['first', ...lines], { file: name, from: 1 });
        } catch (error) {
          return error;
        }
      };
      expect(file('my names.txt')).toMatchObject({
        detail: '# web servers (line 1), (blank) (line 3), web_2 (line 4)',
        hint: expect.stringContaining("`grep -v '^[[:space:]]*#' 'my names.txt'`"),
      });
      expect(file('-')).toMatchObject({ hint: expect.stringContaining("`grep -v '^[[:space:]]*#'`") });
    });

    it('are all named when many are wrong, up to twenty', () => {
      expect(refusal(['-{1..3}']).detail).toBe('-1, -2, -3');
      expect(refusal(['-{1..30}']).detail).toMatch(/-20 and 10 more$/);
    });

    it.each([
      ['{1..100001}'],
      ['a{0..999999999}'],
      ['{1..1000}-{1..101}'],
      ['{1..100000}{1..100000}{1..100000}'],
      [`${'{a,b}'.repeat(40)}`],
    ])('%s are too many, and that is known at once', (pattern) => {
      const start = performance.now();
      const { message, hint } = refusal([pattern]);
      expect(message).toMatch(/100000/);
      expectGolden('droplets', `${message}\n${hint}`);
      expect(performance.now() - start).toBeLessThan(15_000);
    });

    it('of two patterns are too many together', () => {
      expectGolden('droplets', refusal(['a-{1..60000}', 'b-{1..60000}']).message);
    });

    it('whatever is typed, what comes out is valid, different and in order', () => {
      const word = fc.stringMatching(/^[a-z0-9]{1,5}$/);
      const part = fc.oneof(
        word,
        fc.tuple(fc.nat(30), fc.nat(30)).map(([from, to]) => `{${from}..${to}}`),
        fc.array(word, { minLength: 2, maxLength: 4 }).map((words) => `{${words.join(',')}}`),
      );
      const pattern = fc
        .array(fc.oneof(part, fc.string({ maxLength: 3 })), { maxLength: 4 })
        .map((parts) => parts.join(''));
      fc.assert(
        fc.property(fc.array(pattern, { maxLength: 4 }), (patterns) => {
          let names: readonly string[];
          try {
            names = expandNames(patterns);
          } catch (error) {
            expect(error).toMatchObject({ code: 'usage' });
            return;
          }
          for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$/);
          expect(new Set(names).size).toBe(names.length);
        }),
      );
    });

    it('of a range are as many as it is long', () => {
      fc.assert(
        fc.property(fc.nat(5_000), fc.nat(5_000), (from, to) => {
          const names = expandNames([`n{${from}..${to}}`]);
          expect(names).toHaveLength(Math.abs(to - from) + 1);
          expect([names.at(0), names.at(-1)]).toEqual([`n${from}`, `n${to}`]);
        }),
      );
    });

    it('a pattern that is none is told what patterns are, a name what names are', () => {
      expect(refusal(['web-{1..9..0}']).hint).toContain('`{1..9..2}`');
      expectGolden('droplets', `${refusal(['web-{1..9..0}']).hint}\n${refusal(['web_1']).hint}`);
    });
  });
});

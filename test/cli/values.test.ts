import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createArgs } from '../../src/cli/command.ts';
import {
  editDistance,
  encodeDuration,
  intendedWord,
  nearestWord,
  parseDuration,
  requireDuration,
  requireInteger,
  requireValue,
  shortenInput,
} from '../../src/cli/values.ts';
import { thrownText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';

describe('a duration', () => {
  test.each([
    ['30s', 30_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['30d', 2_592_000_000],
    ['0s', 0],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(['', '30', '30 s', '1.5h', '-5m', '5M', 's', '1h30m', '9999999999s', '５m'])(
    '%j is not a duration',
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );

  test('the error of a number without a unit names the option and shows the unit', () => {
    const text = thrownText(() => requireDuration('90', '--timeout'));
    expect(text).toContain('`--timeout 90s`');
    expectGolden('errors', text);
  });

  test('a duration below the minimum is refused', () => {
    expectGolden(
      'errors',
      thrownText(() => requireDuration('0s', '--interval', 1000)),
    );
    expect(requireDuration('1s', '--interval', 1000)).toBe(1000);
  });

  test('the form in a hint is accepted', () => {
    expect(thrownText(() => requireDuration('0', '--timeout', 1000))).toContain('`--timeout 1s`');
    expect(thrownText(() => requireDuration('0', '--rate', 0))).toContain('`--rate 0s`');
    expect(thrownText(() => requireDuration('9999999999', '--timeout', 1000))).toContain('`--timeout 30s`');
  });

  test('an encoded duration parses to the same value', () => {
    fc.assert(
      fc.property(fc.nat(10_000_000), (seconds) => {
        expect(parseDuration(encodeDuration(seconds * 1000))).toBe(seconds * 1000);
      }),
    );
    expect([encodeDuration(120_000), encodeDuration(90_000), encodeDuration(1), encodeDuration(-5)]).toEqual([
      '2m',
      '90s',
      '1s',
      '0s',
    ]);
  });
});

describe('a whole number', () => {
  test.each(['0', '7', '+7', '200'])('%s is a whole number', (text) => {
    expect(requireInteger(text, '--limit')).toBe(Number(text));
  });

  test.each(['', 'ten', '1.5', '1e3', '0x10', ' 7', '99999999999999999999'])('%j is not a whole number', (text) => {
    expect(() => requireInteger(text, '--limit')).toThrow(expect.objectContaining({ code: 'usage', exitCode: 2 }));
  });

  test('the errors name the option, the value and the bounds', () => {
    const texts = [
      thrownText(() => requireInteger('ten', '--limit')),
      thrownText(() => requireInteger('-1', '--limit')),
      thrownText(() => requireInteger('201', '--page-size', { min: 1, max: 200 })),
    ];
    expectGolden('errors', texts.join('\n\n'));
  });
});

describe('a value that must not be empty', () => {
  const wordsWith = (...typed: readonly string[]) =>
    createArgs(
      [],
      [{ name: 'tag', valueName: 'T', description: '' }],
      new Map(typed.length === 0 ? [] : [['tag', typed]]),
    );

  test('gives what was typed, as it was typed, and the last of several', () => {
    expect(requireValue(wordsWith(), 'tag', 'web')).toBeUndefined();
    expect(requireValue(wordsWith('', ' a b '), 'tag', 'web')).toBe(' a b ');
  });

  test.each(['', ' ', '\t'])('%j is an empty value', (text) => {
    expectGolden(
      'errors',
      thrownText(() => requireValue(wordsWith(text), 'tag', 'web')),
    );
  });
});

describe('input within an error', () => {
  test('of a URL only its scheme and host are repeated', () => {
    expect(shortenInput('postgres://user:secret@db.example:5432/app?password=x')).toBe('postgres://db.example:5432…');
    expect(shortenInput('https://host/callback?code=abc#access_token=t')).toBe('https://host…');
    expect(shortenInput('droplts')).toBe('droplts');
  });

  test.each([
    ['42\r', '42\\r'],
    ['a\u200bb', 'a\\u{200b}b'],
    ['\u001b[31mred', '\\u001b[31mred'],
    ['a\u2028b\u0000', 'a\\u{2028}b\\u0000'],
  ])('an invisible character is shown: %j', (word, shown) => {
    expect(shortenInput(word)).toBe(shown);
  });
});

describe('the nearest word', () => {
  const commands = ['auth', 'actions', 'droplets', 'db', 'config', 'completion'];

  test.each([
    ['droplts', 'droplets'],
    ['droplet', 'droplets'],
    ['atuh', 'auth'],
    ['ACTIONS', 'actions'],
    ['conf', 'config'],
    ['drop', 'droplets'],
  ])('%s is close to %s', (word, expected) => {
    expect(nearestWord(word, commands)).toBe(expected);
  });

  test.each(['kubernetes', 'x', '', 'volumes'])('%s is close to nothing', (word) => {
    expect(nearestWord(word, commands)).toBeUndefined();
  });

  test.each(['lst', 'lsit', 'ls', 'lisst', 'creat', 'craete', 'crate', 'List'])('%s is taken for a slip', (word) => {
    expect(intendedWord(word, ['list', 'create'])).toBeDefined();
  });

  test.each(['test', 'web', 'web-*', 'l*st', 'lst1', 'db', 'last-web', 'production', 'c', ''])(
    '%s is taken for a name',
    (word) => {
      expect(intendedWord(word, ['list', 'create'])).toBeUndefined();
    },
  );

  test('a swap of neighbours is one edit', () => {
    expect(editDistance('abcd', 'abdc')).toBe(1);
    expect(editDistance('', 'abc')).toBe(3);
    expect(editDistance('kitten', 'sitting')).toBe(3);
    expect(editDistance('same', 'same')).toBe(0);
  });
});

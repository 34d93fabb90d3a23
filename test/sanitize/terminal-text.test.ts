import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  indentContinuationLines,
  sanitizeLine,
  sanitizeLines,
  sanitizeReportLine,
} from '../../src/sanitize/terminal-text.ts';
import { hostileTexts, rawUnprintable } from '../fixtures/hostile-text.ts';

const acting = /[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u061c]|\p{Surrogate}/u;
// Text with far more of what is dangerous than chance would give.
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 4 }),
      fc.constantFrom(
        '\u001b[31m',
        '\u001b]0;t\u0007',
        '\u009b2J',
        '\u202e',
        '\ufeff',
        '\u001b',
        '\ud83d',
        '\r\n',
        '\u001bP',
        '\u009c',
      ),
    ),
  )
  .map((parts) => parts.join(''));

test.each([
  ['a colour', 'a\u001b[31mb\u001b[0mc', 'abc'],
  ['a colour in its one-character form', 'a\u009b31mb', 'ab'],
  ['a window title', 'a\u001b]0;owned\u0007b', 'ab'],
  ['a link', '\u001b]8;;https://evil.example\u001b\\text\u001b]8;;\u001b\\', 'text'],
  ['a screen that is cleared', '\u001b[2J\u001b[Hhello', 'hello'],
  ['a terminal that is reset', '\u001bchello', 'hello'],
  ['a line that is written over', 'real\rfake', 'real fake'],
  ['text that runs backwards', 'a\u202egnp.exe\u2066b\u2069', 'agnp.exeb'],
  ['characters without width', 'pay\u200bpal\ufeff\u2060', 'paypal'],
  ['line breaks of every kind', 'a\nb\r\nc\u2028d\u0085e\tf', 'a b c d e f'],
  ['half a character', 'a\ud83db', 'a\ufffdb'],
  ['hidden tag characters', 'a\u{e0041}\u{e007f}b', 'ab'],
])('%s does not reach the terminal', (_, text, expected) => {
  expect(sanitizeLine(text)).toBe(expected);
});

test('emoji and the scripts of the world pass unchanged', () => {
  const text = '👩‍💻 über 日本語 العربية नमस्ते';
  expect(sanitizeLine(text)).toBe(text);
});

test('nothing that acts on a terminal is left of any text', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(sanitizeLine(text, 10_000)).not.toMatch(acting);
      expect(sanitizeLines(text, 10_000).replaceAll('\n', '')).not.toMatch(acting);
    }),
    { numRuns: 500 },
  );
});

test('cleaning what is clean changes nothing', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(sanitizeLine(sanitizeLine(text, 10_000), 10_000)).toBe(sanitizeLine(text, 10_000));
      expect(sanitizeLines(sanitizeLines(text))).toBe(sanitizeLines(text));
    }),
  );
});

test('text longer than its limit is cut between characters and says so', () => {
  expect(sanitizeLine('x'.repeat(301))).toBe(`${'x'.repeat(299)}…`);
  expect(sanitizeLine('x'.repeat(300))).toBe('x'.repeat(300));
  expect(sanitizeLine('💧'.repeat(300))).toBe('💧'.repeat(300));
  expect(sanitizeLine('💧'.repeat(5), 3)).toBe('💧💧…');
});

test('lines stay lines where lines are wanted', () => {
  expect(sanitizeLines('a\r\n\u001b[1mb\tc\n')).toBe('a\nb c');
});

test.each(Object.entries(hostileTexts))('%s is one printable line', (_, text) => {
  expect(sanitizeLine(text, 1_000_000)).not.toMatch(rawUnprintable);
  expect(sanitizeLine(text, 1_000_000)).not.toContain('\n');
  expect(sanitizeLines(text, 1_000_000)).not.toMatch(rawUnprintable);
});

test('marks do not pile up over other lines', () => {
  expect(sanitizeLine(`a${'\u0301'.repeat(50)}b`)).toBe(`a${'\u0301'.repeat(8)}b`);
});

test('a second line does not begin at the margin', () => {
  expect(indentContinuationLines('one\ntwo\nthree')).toBe('one\n  two\n  three');
});

test('a report never prints a name as another one', () => {
  expect(sanitizeReportLine('DROP TABLE "pay\u200bpal"')).toBe('DROP TABLE "pay\ufffdpal"');
  expect(sanitizeReportLine('pay\u001b[8mpal')).toBe('pay\ufffd[8mpal');
  expect(sanitizeReportLine('two\r\nlines\u0085of it')).toBe('two lines of it');
});

test.each(Object.entries(hostileTexts))('%s is one printable line of a report', (_, text) => {
  expect(sanitizeReportLine(text)).not.toMatch(rawUnprintable);
  expect(sanitizeReportLine(text)).not.toContain('\n');
});

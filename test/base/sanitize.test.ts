import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  escapeHtml,
  escapeHtmlLines,
  escapeMarkdown,
  escapeUnprintable,
  escapeXml,
  indentLines,
  markdownCode,
  markdownCodeBlock,
  markdownCodeCell,
  replaceUnprintable,
  sanitizeLine,
  sanitizeLines,
  sanitizeReportLine,
  spreadsheetCell,
} from '../../src/base/sanitize.ts';
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

it.each([
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

it('emoji and the scripts of the world pass unchanged', () => {
  const text = '👩‍💻 über 日本語 العربية नमस्ते';
  expect(sanitizeLine(text)).toBe(text);
});

it('nothing that acts on a terminal is left of any text', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(sanitizeLine(text, 10_000)).not.toMatch(acting);
      expect(sanitizeLines(text, 10_000).replaceAll('\n', '')).not.toMatch(acting);
    }),
    { numRuns: 500 },
  );
});

it('cleaning what is clean changes nothing', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(sanitizeLine(sanitizeLine(text, 10_000), 10_000)).toBe(sanitizeLine(text, 10_000));
      expect(sanitizeLines(sanitizeLines(text))).toBe(sanitizeLines(text));
    }),
  );
});

it('text longer than its limit is cut between characters and says so', () => {
  expect(sanitizeLine('x'.repeat(301))).toBe(`${'x'.repeat(299)}…`);
  expect(sanitizeLine('x'.repeat(300))).toBe('x'.repeat(300));
  expect(sanitizeLine('💧'.repeat(300))).toBe('💧'.repeat(300));
  expect(sanitizeLine('💧'.repeat(5), 3)).toBe('💧💧…');
});

it('lines stay lines where lines are wanted', () => {
  expect(sanitizeLines('a\r\n\u001b[1mb\tc\n')).toBe('a\nb c');
});

it.each(Object.entries(hostileTexts))('%s is one printable line', (_, text) => {
  expect(sanitizeLine(text, 1_000_000)).not.toMatch(rawUnprintable);
  expect(sanitizeLine(text, 1_000_000)).not.toContain('\n');
  expect(sanitizeLines(text, 1_000_000)).not.toMatch(rawUnprintable);
});

it('marks do not pile up over other lines', () => {
  expect(sanitizeLine(`a${'\u0301'.repeat(50)}b`)).toBe(`a${'\u0301'.repeat(8)}b`);
});

it('a second line does not begin at the margin', () => {
  expect(indentLines('one\ntwo\nthree')).toBe('one\n  two\n  three');
});

it('a report never prints a name as another one', () => {
  expect(sanitizeReportLine('DROP TABLE "pay\u200bpal"')).toBe('DROP TABLE "pay\ufffdpal"');
  expect(sanitizeReportLine('pay\u001b[8mpal')).toBe('pay\ufffd[8mpal');
  expect(sanitizeReportLine('two\r\nlines\u0085of it')).toBe('two lines of it');
});

it.each(Object.entries(hostileTexts))('%s is one printable line of a report', (_, text) => {
  expect(sanitizeReportLine(text)).not.toMatch(rawUnprintable);
  expect(sanitizeReportLine(text)).not.toContain('\n');
});

it.each(Object.entries(hostileTexts))('%s: what is replaced stays visible, and its length stays', (_, text) => {
  const replaced = replaceUnprintable(text);
  expect(replaced.replaceAll('\t', '')).not.toMatch(rawUnprintable);
  expect([...replaced]).toHaveLength([...text].length);
});

it('line feeds, tabs and printable text stay', () => {
  expect(replaceUnprintable('a\tb\nc 👩\u200d💻')).toBe('a\tb\nc 👩\u200d💻');
  expect(replaceUnprintable('pay\u200bpal\u001b')).toBe('pay\ufffdpal\ufffd');
});

it.each(Object.entries(hostileTexts))('%s keeps its value in JSON', (_, text) => {
  const escaped = escapeUnprintable(JSON.stringify({ [text]: text }));
  expect(escaped).not.toMatch(rawUnprintable);
  expect(escaped).not.toContain('\n');
  expect(JSON.parse(escaped)).toEqual({ [text]: text });
});

it('any text keeps its value in JSON', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const escaped = escapeUnprintable(JSON.stringify(text));
      expect(JSON.parse(escaped)).toBe(text);
      expect(escaped).not.toMatch(rawUnprintable);
    }),
  );
});

const characters: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

it.each(Object.entries(hostileTexts))('%s is text for a browser, between tags and in attributes', (_, text) => {
  const html = escapeHtml(text);
  expect(html).not.toMatch(rawUnprintable);
  expect(html).not.toMatch(/[<>"']/);
  const shown = html.replace(/&(?:#39|\w+);/g, (reference) => characters[reference] ?? '');
  expect(shown).toBe(replaceUnprintable(text.replace(/[\t\n]/g, ' ')));
});

it('a script keeps its lines', () => {
  expect(escapeHtmlLines('a <b>\n\tc\r')).toBe('a &lt;b&gt;\n\tc\ufffd');
});

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

it.each(Object.entries(hostileTexts))('%s has its value in XML, as far as XML 1.0 allows it', (_, text) => {
  const xml = escapeXml(text);
  expect(xml).not.toMatch(rawUnprintable);
  expect(xml).not.toMatch(/[<>"\t\n]/);
  const read = xml.replace(/&(?:#(\d+)|(\w+));/g, (_reference, code?: string, name = '') =>
    code === undefined ? (entities[name] ?? '') : String.fromCodePoint(Number(code)),
  );
  expect(read).toBe(text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, '\ufffd'));
});

describe.each(Object.entries(hostileTexts))('%s', (_, text) => {
  it('is one line of plain text', () => {
    const markdown = escapeMarkdown(text);
    expect(markdown).not.toMatch(rawUnprintable);
    expect(markdown).not.toContain('\n');
    const unescaped = markdown.replace(/\\[!-/:-@[-`{-~]/g, 'x');
    expect(unescaped).not.toMatch(/[*_[\]<>|#`~]|&#?\w+;/);
    expect(unescaped).not.toMatch(/^([-+=]([-+= ]|$)|\d+[.)]( |$))/);
  });

  it('is one code span, which ends where it should', () => {
    const markdown = markdownCode(text);
    expect(markdown).not.toMatch(rawUnprintable);
    expect(markdown).not.toContain('\n');
    const [fence = ''] = /^`+/.exec(markdown) ?? [];
    const runs = [...markdown.matchAll(/`+/g)].map(([run]) => run);
    expect(runs.filter((run) => run === fence)).toHaveLength(2);
    expect(markdown.endsWith(fence)).toBe(true);
  });

  it('is one cell of a table', () => {
    expect(markdownCodeCell(text).replaceAll('\\|', '')).not.toContain('|');
  });

  it('stays inside its block', () => {
    const lines = markdownCodeBlock(`${text}\n`, 'sql').split('\n');
    const fence = lines.at(-1) ?? '';
    expect(lines[0]).toBe(`${fence}sql`);
    expect(lines.slice(1, -1).some((line) => line.trimStart().startsWith(fence))).toBe(false);
  });
});

it('plain sentences stay as they are', () => {
  for (const text of ['wal_level is -1 of 10, 17.2 (R&D)', '3.5 GB', '-1', '"$user", public'])
    expect(escapeMarkdown(text).replaceAll('\\_', '_')).toBe(text);
});

it.each(Object.entries(hostileTexts))('%s is no formula and no control character', (_, text) => {
  const cell = spreadsheetCell(text);
  expect(cell).not.toMatch(rawUnprintable);
  expect(cell).not.toContain('\n');
  expect(cell).not.toMatch(/^[=@\uff1d\uff0b\uff0d\uff20]|^[+-](?![\d.]+$)/);
});

it('an apostrophe is added only where a formula begins', () => {
  expect(['=1+1', '+a', '-a', '@a', '\t=1', '-1+1'].map(spreadsheetCell)).toEqual([
    "'=1+1",
    "'+a",
    "'-a",
    "'@a",
    "'=1",
    "'-1+1",
  ]);
  for (const text of ['-1', '+1.5', 'a=b', "it's", '']) expect(spreadsheetCell(text)).toBe(text);
});

import { expect, it, test } from 'vitest';
import {
  maxSourcesFileLineBytes,
  parseSourcesFileLineFields,
  splitSourcesFileLines,
} from '../../src/inventory/split-sources-file-lines.ts';

const split = (text: string) => splitSourcesFileLines(Buffer.from(text));

it('numbers lines as an editor does, and leaves out blank lines and comments', () => {
  expect(split('\ufeffa\r\n\n # note\n  b  \n#c\nd').lines).toEqual([
    { line: 1, text: 'a' },
    { line: 4, text: 'b' },
    { line: 6, text: 'd' },
  ]);
  expect(split('')).toEqual({ lines: [], bad: [] });
});

test.each([
  { what: 'a control character', bytes: Buffer.from('ok\na\u001b[2Jb\n') },
  { what: 'NUL', bytes: Buffer.from('ok\na\0b\n') },
  { what: 'a character that reverses text', bytes: Buffer.from('ok\na\u202eb\n') },
  { what: 'bytes that are not UTF-8', bytes: Buffer.from([0x6f, 0x6b, 0x0a, 0xff, 0xfe, 0x0a]) },
  { what: 'a line of 10 MB', bytes: Buffer.concat([Buffer.from('ok\n'), Buffer.alloc(10_000_000, 0x61)]) },
])('$what makes its line bad, and no other', ({ bytes }) => {
  const { lines, bad } = splitSourcesFileLines(bytes);
  expect(lines).toEqual([{ line: 1, text: 'ok' }]);
  expect(bad.map(({ line }) => line)).toEqual([2]);
});

it('accepts a line of the greatest length', () => {
  expect(split('a'.repeat(maxSourcesFileLineBytes)).bad).toEqual([]);
  expect(split('a'.repeat(maxSourcesFileLineBytes + 1)).bad).toHaveLength(1);
});

test.each([
  { text: 'a,b', fields: ['a', 'b'] },
  { text: 'a, b ,', fields: ['a', 'b', ''] },
  { text: '"a,b",c', fields: ['a,b', 'c'] },
  { text: '"say ""hi""",', fields: ['say "hi"', ''] },
  { text: '"",""', fields: ['', ''] },
])('the record $text', ({ text, fields }) => {
  expect(parseSourcesFileLineFields(text)).toEqual(fields);
});

test.each(['"a', 'a"b,c', '"a"b,c', '"a,b'])('the record %s is refused', (text) => {
  expect(parseSourcesFileLineFields(text)).toMatchObject({ reason: expect.any(String) });
});

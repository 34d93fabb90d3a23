import { expect, test } from 'vitest';
import { ndjsonLine } from '../../../src/cli/formats.ts';

test('a JSON text is on one line, whatever it contains', () => {
  expect(ndjsonLine({ a: 'x\ny\u2028z', b: [1, 2] })).toBe('{"a":"x\\ny\\u2028z","b":[1,2]}\n');
  expect(ndjsonLine(undefined)).toBe('null\n');
});

test('characters that must not reach a terminal are escaped', () => {
  expect(ndjsonLine({ a: 'é\u202e' })).toBe('{"a":"é\\u202e"}\n');
  expect(ndjsonLine({ a: '\u007f' })).toBe('{"a":"\\u007f"}\n');
});

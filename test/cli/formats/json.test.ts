import { expect, test } from 'vitest';
import { formatJsonDocument } from '../../../src/cli/formats.ts';

test('JSON is indented by two blanks and ends with a newline', () => {
  expect(formatJsonDocument([{ b: 1, a: null }])).toBe('[\n  {\n    "b": 1,\n    "a": null\n  }\n]\n');
  expect(formatJsonDocument([])).toBe('[]\n');
  expect(formatJsonDocument(undefined)).toBe('null\n');
});

test('characters that act on a terminal are escaped, and the data is the same', () => {
  const data = { name: 'a\u009b31m\u202eb\u001b[0m' };
  expect(formatJsonDocument(data)).toContain('a\\u009b31m\\u202eb\\u001b[0m');
  expect(JSON.parse(formatJsonDocument(data))).toEqual(data);
});

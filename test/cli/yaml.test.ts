import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { Secret } from '../../src/base/secret.ts';
import { yamlDocument } from '../../src/cli/yaml.ts';

test('YAML has block style without needless quotes', async () => {
  expect(yamlDocument([{ id: 1, tags: ['a', 'b'], none: null }])).toBe(
    '- id: 1\n  tags:\n    - a\n    - b\n  none: null\n',
  );
  expect(yamlDocument([])).toBe('[]\n');
});

test('every data reads the same again', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (data) => {
      const same = JSON.parse(JSON.stringify(data));
      expect(parse(yamlDocument(data))).toEqual(same);
    }),
  );
});

test('characters that act on a terminal are escaped, in keys as well', async () => {
  const data = { 'k\u009bx': 'a\u202eb\u001b[31m', plain: 'x' };
  const text = yamlDocument(data);
  expect(text).not.toMatch(/[\u001b\u009b\u202e]/);
  expect(parse(text)).toEqual(data);
});

test('characters that YAML does not allow are escaped', async () => {
  const data = ['a\ufffeb', '\uffff', { 'k\uffff': 'x' }];
  const text = yamlDocument(data);
  expect(text).not.toMatch(/[\ufffe\uffff]/);
  expect(parse(text)).toEqual(data);
});

test('a secret does not print, and shared objects are written out', async () => {
  const shared = { a: 1 };
  expect(yamlDocument({ s: new Secret('hunter2'), x: shared, y: shared })).toBe(
    's: "[secret]"\nx:\n  a: 1\ny:\n  a: 1\n',
  );
});

test('a line of a text is never a line of the document', async () => {
  const names = [
    'g\n::error file=x::owned, in a text of more than forty characters',
    'q "\n\n::error x',
    "'\n::error x",
  ];
  const text = yamlDocument({ names });
  expect(text.split('\n').filter((line) => line.trim().startsWith('::'))).toEqual([]);
  expect(parse(text)).toEqual({ names });
});

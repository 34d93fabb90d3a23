import { expect, test } from 'vitest';
import { ndjsonLine } from '../../../src/cli/formats/ndjson.ts';

test('a JSON text stands on one line, whatever is in it', () => {
  expect(ndjsonLine({ a: 'x\ny\u2028z', b: [1, 2] })).toBe('{"a":"x\\ny\\u2028z","b":[1,2]}\n');
  expect(ndjsonLine(undefined)).toBe('null\n');
});

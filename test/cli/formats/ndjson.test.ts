import { expect, test } from 'vitest';
import { escapeNdjsonLines, ndjsonLine } from '../../../src/cli/formats/ndjson.ts';

test('a JSON text is on one line, whatever it contains', () => {
  expect(ndjsonLine({ a: 'x\ny\u2028z', b: [1, 2] })).toBe('{"a":"x\\ny\\u2028z","b":[1,2]}\n');
  expect(ndjsonLine(undefined)).toBe('null\n');
});

test('lines from elsewhere are passed on as they are, but for what must not reach a terminal', () => {
  const plain = Buffer.from('{"a":"b"}\n{"c":1.0}\n');
  expect(escapeNdjsonLines(plain)).toBe(plain);
  expect(escapeNdjsonLines(Buffer.from('{"a":"é\u202e"}\n'))).toBe('{"a":"é\\u202e"}\n');
  expect(escapeNdjsonLines(Buffer.from('{"a":"\u007f"}\n'))).toBe('{"a":"\\u007f"}\n');
  expect(escapeNdjsonLines(Buffer.from([0x22, 0xff, 0x22, 0x0a]))).toBe('"\ufffd"\n');
});

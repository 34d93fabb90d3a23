import { describe, expect, test } from 'vitest';
import { checkBody } from '../../src/postgresql/message-reader.ts';
import { int32 } from './wire.ts';

const check = (kind: string, ...parts: readonly (string | Buffer | readonly number[])[]) =>
  checkBody(
    kind.charCodeAt(0),
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part)))),
  );

describe('an error message', () => {
  test.each(['\0', 'SERROR\0\0', 'SERROR\0Mtext\0\0', 'M\0\0'])('%j is terminated', (body) => {
    expect(() => check('E', body)).not.toThrow();
    expect(() => check('N', body)).not.toThrow();
  });
  test.each(['', 'S', 'SERROR', 'SERROR\0', 'A\0', 'SERROR\0M\0'])('%j is not, and pg would never end', (body) => {
    expect(() => check('E', body)).toThrow();
    expect(() => check('N', body)).toThrow();
  });
});

describe('a row', () => {
  test('of values and nulls is accepted', () => {
    expect(() => check('D', [0, 0])).not.toThrow();
    expect(() => check('D', [0, 2], int32(1), 'a', int32(-1))).not.toThrow();
  });
  test.each([
    ['a value that is longer than the row', [[0, 1], int32(2), 'a']],
    ['a negative length, which leads back', [[0, 2], int32(-2), int32(1), 'a']],
    ['fewer values than it says', [[0, 2], int32(1), 'a']],
    ['more bytes than values', [[0, 1], int32(1), 'ab']],
    ['a negative number of values', [[255, 255]]],
    ['more values than a result may have', [[6, 129], ...Array.from({ length: 1665 }, () => int32(-1))]],
    ['no number of values', [[0]]],
  ] as const)('with %s is refused', (_name, parts) => {
    expect(() => check('D', ...parts)).toThrow();
  });
});

test('small messages cost more than their bytes, because objects are created for them', () => {
  expect(check('D', [0, 0])).toBeGreaterThan(100);
  expect(check('C', 'SELECT 0\0')).toBeGreaterThan(500);
  expect(check('T', [0, 0])).toBeGreaterThan(500);
});

import { describe, expect, test } from 'vitest';
import { createLimit } from '../../src/platform/memory.ts';
import { createReplyValidator } from '../../src/redis/connection.ts';

function reading(text: string | Buffer, size = text.length) {
  const reader = createReplyValidator(createLimit('statement'));
  const bytes = Buffer.from(text);
  return () => {
    for (let at = 0; at < bytes.length; at += size) reader.read(bytes.subarray(at, at + size));
  };
}

const valid = [
  '+OK\r\n',
  '-ERR no\r\n',
  ':-1\r\n',
  '$-1\r\n',
  '$0\r\n\r\n',
  '$5\r\na\r\nb\n\r\n',
  '*-1\r\n',
  '*0\r\n',
  '*2\r\n*1\r\n$1\r\na\r\n:5\r\n',
  '$12\r\n*99999999\r\n\r\n',
];

describe('replies of a server are accepted', () => {
  test.each(valid)('%j', (reply) => expect(reading(reply)).not.toThrow());
  test.each([1, 2, 3, 7])('in chunks of %i bytes', (size) => expect(reading(valid.join(''), size)).not.toThrow());
});

describe('what no server sends is refused', () => {
  test.each([
    ['a negative length, with which ioredis would not terminate', '$////////\r\n'],
    ['a length that is no number', '$1a\r\n'],
    ['a bulk string of 2 GB', '$2147483647\r\n'],
    ['an array of 30 million elements', '*30000000\r\n'],
    ['arrays in arrays', '*1\r\n'.repeat(17)],
    ['a line with a carriage return', '+a\rb\r\n'],
    ['a line that ends without one', '+OK\n'],
    ['a push message', '>2\r\n'],
    ['an empty line', '\r\n'],
    ['a long line', `+${'x'.repeat(70_000)}`],
    ['many small values', `*1000000\r\n${'$0\r\n\r\n'.repeat(500_000)}`],
  ])('%s', (_name, bytes) => {
    expect(reading(bytes)).toThrow();
    expect(reading(bytes, 1000)).toThrow();
  });
});

test('each reply has its own limit', () => {
  const reader = createReplyValidator(createLimit('statement'));
  const large = Buffer.from(`$15000000\r\n${'x'.repeat(15_000_000)}\r\n`);
  for (let at = 0; at < 10; at++) {
    reader.read(large);
    reader.nextReply();
  }
  for (let at = 0; at < 4; at++) reader.read(large);
  expect(() => reader.read(large)).toThrow();
});

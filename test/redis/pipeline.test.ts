import { expect, test } from 'vitest';
import { CommandError } from '../../src/redis/command-error.ts';
import { createReplyReader } from '../../src/redis/pipeline.ts';

const reader = () => createReplyReader((message) => new CommandError('ERR', message, false));
const stream = '+OK\r\n:-2\r\n$-1\r\n$4\r\na\r\nb\r\n*2\r\n$1\r\nx\r\n*1\r\n:7\r\n-ERR no\r\n$0\r\n\r\n';
const expected = ['OK', -2, null, 'a\r\nb', ['x', [7]], 'ERR no', ''];
const plain = (reply: unknown): unknown => {
  if (reply instanceof Uint8Array) return Buffer.from(reply).toString('latin1');
  if (reply instanceof CommandError) return reply.message;
  return Array.isArray(reply) ? reply.map(plain) : reply;
};

test.each([1, 2, 3, 7, 1000])('replies that arrive in parts of %i bytes are read', (size) => {
  const bytes = Buffer.from(stream, 'latin1');
  const one = reader();
  const replies: unknown[] = [];
  for (let at = 0; at < bytes.length; at += size) replies.push(...one.read(bytes.subarray(at, at + size)));
  expect(replies.map(plain)).toEqual(expected);
});

test.each([
  'hello\r\n',
  '$5x\r\n',
  '$-2\r\n',
  '$99999999999\r\n',
  '*9999999\r\n',
  ':\r\n',
  '+a\n',
  `${'*1\r\n'.repeat(20)}:1\r\n`,
])('what no server may send is refused: %j', (bytes) => {
  expect(() => reader().read(Buffer.from(bytes))).toThrow();
});

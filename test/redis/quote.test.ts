import { describe, expect, test } from 'vitest';
import { formatCommand, quoteArgument } from '../../src/redis/quote.ts';
import { lacks } from '../fixtures/needs.ts';
import { startRedis } from '../fixtures/redis.ts';

test('a plain word stays as it is', () => {
  expect(formatCommand('CONFIG', 'SET', 'repl-timeout', '300')).toBe('CONFIG SET repl-timeout 300');
  expect(formatCommand('ACL', 'SETUSER', 'u', '+config|get')).toBe('ACL SETUSER u +config|get');
  expect(quoteArgument('')).toBe('""');
});

describe.skipIf(lacks('redis-server', 'redis-cli'))('redis-cli reads back what was quoted', () => {
  test.each([
    '',
    'slave 0 0 0',
    '"',
    "'",
    '\\',
    '#no comment',
    'line\nbreak',
    'tab\t',
    'söße',
    '💾',
    '\x00\x7f',
    '$(x)`y`',
    'a;b',
  ])('%j', async (word) => {
    const server = await startRedis();
    try {
      server.script(formatCommand('SET', 'k', word));
      const hex = [...Buffer.from(word)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
      const script = 'return redis.call("GET", "k") == ARGV[1] and 1 or 0';
      expect(server.script(`EVAL '${script}' 0 "${hex}"`)).toEqual(['1']);
    } finally {
      await server.stop();
    }
  });
});

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { quoteShellArg } from '../../src/base/text.ts';

test.each(['web-01', 'a=b,c', '/v2/droplets', 'user@host:22', '50%'])('%s needs no quotes', (text) => {
  expect(quoteShellArg(text)).toBe(text);
});

test.each(['', 'two words', "it's", '$(touch x)', 'a"b', '*', 'line\nbreak'])('a shell reads %j unchanged', (text) => {
  expect(execFileSync('sh', ['-c', `printf %s ${quoteShellArg(text)}`]).toString()).toBe(text);
});

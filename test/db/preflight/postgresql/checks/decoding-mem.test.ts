import { expect, test } from 'vitest';
import { decodingMemCheck } from '../../../../../src/db/preflight/postgresql/checks/decoding-mem.ts';
import { preflightOptions, settings, short, sourceFacts } from '../facts.ts';

test.each([
  { value: '65536', verdict: 'pass' },
  { value: '1024', verdict: 'info' },
])('logical_decoding_work_mem $value kB: $verdict', ({ value, verdict }) => {
  const facts = { settings: settings({ logical_decoding_work_mem: { value, unit: 'kB', context: 'user' } }) };
  expect(short(decodingMemCheck.evaluate(facts, sourceFacts(), preflightOptions()))).toBe(verdict);
});

test('a version without logical_decoding_work_mem passes', () => {
  expect(short(decodingMemCheck.evaluate({ settings: settings({}) }, sourceFacts(), preflightOptions()))).toBe('pass');
});

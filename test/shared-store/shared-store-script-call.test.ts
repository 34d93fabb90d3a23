import { expect, test } from 'vitest';
import { buildSharedStoreScriptCall } from '../../src/shared-store/shared-store-script-call.ts';

test('a number is passed to a script as decimal text', () => {
  expect(buildSharedStoreScriptCall({ op: 'renew', attempt: 'a', leaseMs: 15_000 }).args).toEqual(['a', '15000']);
});

test.each([
  { unsent: true, text: '1' },
  { unsent: false, text: '0' },
])('unsent $unsent is passed to a script as $text', ({ unsent, text }) => {
  expect(buildSharedStoreScriptCall({ op: 'release', attempt: 'a', unsent }).args).toEqual(['a', text]);
});

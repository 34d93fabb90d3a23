import { expect, test } from 'vitest';
import { walRateCheck } from '../../../../../src/db/preflight/postgresql/checks/wal-rate.ts';
import { copy, preflightOptions, short, sourceFacts } from '../facts.ts';

test.each([
  { what: 'an idle source', rate: 0, free: undefined, verdict: 'pass' },
  { what: 'a busy one, disk not told', rate: 1e6, free: undefined, verdict: 'info' },
  { what: 'a busy one with room', rate: 1e6, free: 1e12, verdict: 'pass' },
  { what: 'a busy one without room', rate: 1e6, free: 1e11, verdict: 'warn' },
])('WAL of the copy, $what: $verdict', ({ rate, free, verdict }) => {
  const facts = sourceFacts({ copy: copy(2e12, ['d1']), walRate: { bytes: rate * 5, seconds: 5 } });
  expect(
    short(walRateCheck.evaluate({ walHistory: undefined }, facts, preflightOptions({ sourceDiskFree: free }))),
  ).toBe(verdict);
});

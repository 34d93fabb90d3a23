import { expect, test } from 'vitest';
import { needsWalInterval } from '../../../../src/db/preflight/postgresql/collect.ts';
import { settingsQuery } from '../../../../src/db/preflight/postgresql/queries/settings.ts';
import type { QueryResults } from '../../../../src/db/preflight/query.ts';
import { preflightOptions, settings } from './facts.ts';

function keeping(value: string): QueryResults {
  return new Map([
    [settingsQuery, { kind: 'known', value: settings({ max_slot_wal_keep_size: { value, unit: 'MB' } }) }],
  ]) as QueryResults;
}

test('the write rate is measured for the whole interval only where it decides a check', () => {
  expect(needsWalInterval(new Map(), preflightOptions())).toBe(false);
  expect(needsWalInterval(keeping('-1'), preflightOptions())).toBe(false);
  expect(needsWalInterval(keeping('0'), preflightOptions())).toBe(true);
  expect(needsWalInterval(keeping('1024'), preflightOptions())).toBe(true);
  expect(needsWalInterval(keeping('-1'), preflightOptions({ method: 'dump' }))).toBe(true);
  expect(needsWalInterval(keeping('-1'), preflightOptions({ sourceDiskFree: 1e9 }))).toBe(true);
});

import { expect, test } from 'vitest';
import { isWalRateIntervalRequired } from '../../../../src/db/preflight/postgresql/collect.ts';
import { postgresqlSettingsQuery } from '../../../../src/db/preflight/postgresql/queries/settings.ts';
import type { PreflightQueryResults } from '../../../../src/db/preflight/query.ts';
import { preflightOptions, settings } from './facts.ts';

function keeping(value: string): PreflightQueryResults {
  return new Map([
    [postgresqlSettingsQuery, { kind: 'known', value: settings({ max_slot_wal_keep_size: { value, unit: 'MB' } }) }],
  ]) as PreflightQueryResults;
}

test('the write rate is measured for the whole interval only where it decides a check', () => {
  expect(isWalRateIntervalRequired(new Map(), preflightOptions())).toBe(false);
  expect(isWalRateIntervalRequired(keeping('-1'), preflightOptions())).toBe(false);
  expect(isWalRateIntervalRequired(keeping('0'), preflightOptions())).toBe(true);
  expect(isWalRateIntervalRequired(keeping('1024'), preflightOptions())).toBe(true);
  expect(isWalRateIntervalRequired(keeping('-1'), preflightOptions({ method: 'dump' }))).toBe(true);
  expect(isWalRateIntervalRequired(keeping('-1'), preflightOptions({ sourceDiskFree: 1e9 }))).toBe(true);
});

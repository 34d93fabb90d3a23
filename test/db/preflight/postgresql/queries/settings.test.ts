import { expect, test } from 'vitest';
import {
  getSetting,
  numericSetting,
  settingsQuery,
} from '../../../../../src/db/preflight/postgresql/queries/settings.ts';
import { effectiveSettings } from '../../../../../src/db/preflight/postgresql/settings.ts';

const rows = [
  { name: 'wal_level', setting: 'logical', context: 'postmaster', pending_restart: 'f', source: 'default' },
  { name: 'max_wal_senders', setting: '10', context: 'postmaster', pending_restart: 't', source: 'default' },
];

test('a setting that is not queried cannot be read', () => {
  const settings = settingsQuery.decode(rows);
  // @ts-expect-error fsync is not in the list of queried settings
  expect(getSetting(settings, 'fsync')).toBe('');
  // @ts-expect-error fsync is not in the list of queried settings
  expect(numericSetting(settings, 'fsync')).toBe(0);
  // @ts-expect-error fsync is not in the list of queried settings
  expect(settings.get('fsync')).toBeUndefined();
  // @ts-expect-error fsync is not in the list of queried settings
  expect(effectiveSettings('fsync', settings, [], { dbname: 'd1', databases: ['d1'] })).toEqual([]);
});

test('a queried setting has the value of the server, or a default when the version lacks it', () => {
  const settings = settingsQuery.decode(rows);
  expect(getSetting(settings, 'wal_level')).toBe('logical');
  expect(numericSetting(settings, 'max_wal_senders')).toBe(10);
  expect(numericSetting(settings, 'autovacuum_worker_slots', 16)).toBe(16);
});

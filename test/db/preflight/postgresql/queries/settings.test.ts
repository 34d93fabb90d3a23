import { expect, test } from 'vitest';
import {
  getNumericPostgresqlSetting,
  getPostgresqlSetting,
  postgresqlSettingsQuery,
} from '../../../../../src/db/preflight/postgresql/queries/settings.ts';
import { computeEffectiveSettingPerDatabase } from '../../../../../src/db/preflight/postgresql/settings.ts';

const rows = [
  { name: 'wal_level', setting: 'logical', context: 'postmaster', pending_restart: 'f', source: 'default' },
  { name: 'max_wal_senders', setting: '10', context: 'postmaster', pending_restart: 't', source: 'default' },
];

test('a setting that is not queried cannot be read', () => {
  const settings = postgresqlSettingsQuery.decode(rows);
  // @ts-expect-error fsync is not in the list of queried settings
  expect(getPostgresqlSetting(settings, 'fsync')).toBe('');
  // @ts-expect-error fsync is not in the list of queried settings
  expect(getNumericPostgresqlSetting(settings, 'fsync')).toBe(0);
  // @ts-expect-error fsync is not in the list of queried settings
  expect(settings.get('fsync')).toBeUndefined();
  // @ts-expect-error fsync is not in the list of queried settings
  expect(computeEffectiveSettingPerDatabase('fsync', settings, [], { dbname: 'd1', databases: ['d1'] })).toEqual([]);
});

test('a queried setting has the value of the server, or a default when the version lacks it', () => {
  const settings = postgresqlSettingsQuery.decode(rows);
  expect(getPostgresqlSetting(settings, 'wal_level')).toBe('logical');
  expect(getNumericPostgresqlSetting(settings, 'max_wal_senders')).toBe(10);
  expect(getNumericPostgresqlSetting(settings, 'autovacuum_worker_slots', 16)).toBe(16);
});

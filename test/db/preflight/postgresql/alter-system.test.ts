import { expect, test } from 'vitest';
import { alterSystemFix } from '../../../../src/db/preflight/postgresql/settings.ts';
import { settings } from './facts.ts';

test.each([
  { from: 'a line of postgresql.conf', setting: {}, undo: 'ALTER SYSTEM RESET wal_level' },
  { from: 'the default', setting: { source: 'default', file: undefined }, undo: 'ALTER SYSTEM RESET wal_level' },
  {
    from: 'an earlier ALTER SYSTEM',
    setting: { file: '/data/postgresql.auto.conf' },
    undo: "ALTER SYSTEM SET wal_level = 'replica'",
  },
  {
    from: 'a file this role may not see',
    setting: { file: undefined },
    undo: "ALTER SYSTEM SET wal_level = 'replica'",
  },
])('a value from $from comes back', ({ setting, undo }) => {
  const fix = alterSystemFix(settings({ wal_level: { value: 'replica', ...setting } }), { wal_level: 'logical' });
  expect(fix).toMatchObject({ sql: ["ALTER SYSTEM SET wal_level = 'logical'"], undo: [undo], restart: true });
});

test('a setting that needs no restart is reloaded', () => {
  const fix = alterSystemFix(settings({ wal_sender_timeout: { value: '1000', context: 'user' } }), {
    wal_sender_timeout: '5min',
  });
  expect(fix).toMatchObject({ reload: true });
  expect(fix).not.toHaveProperty('restart');
});

test.each([
  ['user', 'ALTER ROLE'],
  ['database', 'ALTER DATABASE'],
  ['database user', 'IN DATABASE'],
])('a setting of a role or database (source %s), which ALTER SYSTEM does not change, gets a text', (source, words) => {
  const fix = alterSystemFix(settings({ logical_decoding_work_mem: { value: '64', source, context: 'user' } }), {
    logical_decoding_work_mem: '256MB',
  });
  expect(fix).not.toHaveProperty('sql');
  expect(fix).not.toHaveProperty('effects');
  expect(fix.text).toContain(words);
  expect(fix.text).not.toContain('restart');
});

test('a setting on the command line needs a restart, whatever its context', () => {
  const fix = alterSystemFix(
    settings({ wal_sender_timeout: { value: '10000', source: 'command line', context: 'user' } }),
    { wal_sender_timeout: '60s' },
  );
  expect(fix).toMatchObject({ restart: true, text: expect.stringContaining('restart') });
});

test('a setting on the command line gets a text instead of ALTER SYSTEM', () => {
  const fix = alterSystemFix(settings({ wal_level: { value: 'replica', source: 'command line' } }), {
    wal_level: 'logical',
  });
  expect(fix).not.toHaveProperty('sql');
  expect(fix.text).toContain('command line');
});

test.each([
  { mark: 'rds.logical_replication', says: 'rds.logical_replication = 1' },
  { mark: 'cloudsql.logical_decoding', says: 'cloudsql.logical_decoding=on' },
  { mark: 'azure.extensions', says: "--name wal_level --value 'logical'" },
])('with $mark the fix names the way of that service, without SQL', ({ mark, says }) => {
  const fix = alterSystemFix(settings({ wal_level: 'replica', [mark]: 'off' }), { wal_level: 'logical' });
  expect(fix).not.toHaveProperty('sql');
  expect(fix.text).toContain(says);
});

test('values are quoted', () => {
  const fix = alterSystemFix(settings({ synchronous_standby_names: { context: 'sighup' } }), {
    synchronous_standby_names: `ANY 1 ("it's")`,
  });
  expect(fix.sql).toEqual([`ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 ("it''s")'`]);
});

test('without ALTER SYSTEM the fix is a line of the configuration file', () => {
  const found = settings({ wal_level: { value: 'replica' }, allow_alter_system: { value: 'off' } });
  const fix = alterSystemFix(found, { wal_level: 'logical' });
  expect(fix).not.toHaveProperty('sql');
  expect(fix.shell?.at(-1)).toBe("wal_level = 'logical'");
  expect(fix.undoShell?.at(-1)).toBe("wal_level = 'replica'");
  expect(fix.restart).toBe(true);
});

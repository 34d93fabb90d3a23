import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listStartedMigrations } from '../../../src/db/watch/list-started-migrations.ts';
import { getMigrationWatchRecordPath, writeMigrationWatchRecord } from '../../../src/db/watch/watch-record.ts';
import { testHost } from '../../fixtures/host.ts';

it('lists what this machine started, the latest first, and nothing else', () => {
  const { state } = testHost().folders;
  expect(listStartedMigrations(state)).toEqual([]);
  const add = (host: string, at?: number): void =>
    writeMigrationWatchRecord(getMigrationWatchRecordPath(state, { engine: 'redis', host, port: 1 }), {
      engine: 'redis',
      source: `${host}:1`,
      ...(at === undefined ? {} : { started: { at, cluster: `c-${host}`, id: host, identity: {} } }),
    });
  add('old', 1000);
  add('new', 2000);
  add('only-watched');
  for (const name of ['sent-1.json', `${'a'.repeat(32)}.json`]) writeFileSync(join(state, 'migrations', name), '{');
  expect(listStartedMigrations(state).map(({ started }) => started.cluster)).toEqual(['c-new', 'c-old']);
});

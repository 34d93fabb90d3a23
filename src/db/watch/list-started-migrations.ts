import { join } from 'node:path';
import { listFolder } from '../../platform/files.ts';
import { type MigrationWatchRecord, type RecordedMigrationStart, readMigrationWatchRecord } from './watch-record.ts';

/** The watch record of a migration that `db migrate` started on this machine. */
export type StartedMigrationRecord = MigrationWatchRecord & { readonly started: RecordedMigrationStart };

/** The recorded migrations that this machine started, the latest first; they may have ended. */
export function listStartedMigrations(stateFolder: string): readonly StartedMigrationRecord[] {
  const folder = join(stateFolder, 'migrations');
  return listFolder(folder)
    .filter((name) => /^[0-9a-f]{32}\.json$/.test(name))
    .flatMap((name) => {
      const record = readMigrationWatchRecord(join(folder, name));
      return record?.started === undefined ? [] : [{ ...record, started: record.started }];
    })
    .sort((one, other) => other.started.at - one.started.at);
}

import { waitForFileLock } from './wait-for-file-lock.ts';
import { type MigrationWatchRecord, readMigrationWatchRecord, writeMigrationWatchRecord } from './watch-record.ts';

/**
 * Reads and replaces a watch record under a lock, so that `db migrate`, `db watch` and `db cutover` do not undo each other's
 * changes. Returns false when another process held the lock for too long; the record is then unchanged. Throws errors of the
 * file system, and a CliError when the record cannot be locked.
 * @param change returns the new record, or undefined if the record needs no change; called once without the lock and once
 *   with it
 */
export function changeMigrationWatchRecord(
  path: string,
  change: (record: MigrationWatchRecord | undefined) => MigrationWatchRecord | undefined,
): boolean {
  // Most polls of a watch change nothing, and need no lock.
  if (change(readMigrationWatchRecord(path)) === undefined) return true;
  const lock = waitForFileLock(`${path}.lock`);
  if (lock === undefined) return false;
  try {
    const changed = change(readMigrationWatchRecord(path));
    if (changed !== undefined) writeMigrationWatchRecord(path, changed);
    return true;
  } finally {
    lock.release();
  }
}

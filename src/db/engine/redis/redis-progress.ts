import {
  createInitialDatabaseMigrationState,
  recordDatabaseMigrationOutage,
  type StalledMigrationPhase,
} from '../engine-migration-state.ts';
import type { MigrationProgress } from '../migration-progress.ts';
import type { RedisReplicationStatus } from './redis-replication-status.ts';

/** Records for all databases of the server why no data is transferred at present. */
export function recordRedisMigrationOutage(
  { databases }: MigrationProgress,
  phase: StalledMigrationPhase,
  reason: string,
): void {
  // The databases are not known before both servers have been polled once.
  if (databases.length === 0) databases.push({ ...createInitialDatabaseMigrationState('db0'), method: 'continuous' });
  for (const progress of databases) recordDatabaseMigrationOutage(progress, phase, reason);
}

/** Records a poll of both servers. A database whose last key was deleted remains in the progress, with 0 keys. */
export function updateRedisMigrationProgress(
  { databases }: MigrationProgress,
  { isUp, lagBytes, databases: polled }: RedisReplicationStatus,
): void {
  for (const { name } of polled) {
    if (!databases.some((one) => one.name === name)) {
      databases.push({ ...createInitialDatabaseMigrationState(name), method: 'continuous' });
    }
  }
  for (const progress of databases) {
    const keys = polled.find(({ name }) => name === progress.name)?.keys;
    progress.tables = [keys ?? { name: 'keys', stage: isUp ? 'r' : 'i', rows: 0 }];
    progress.lagBytes = lagBytes;
    progress.reason = undefined;
    progress.phase = isUp ? 'streaming' : 'copying';
  }
}

import type { MigrationProgress } from '../migration-progress.ts';
import { createDatabaseProgress, type ImpededPhase, impede } from '../migration-state.ts';
import type { RedisReplicationStatus } from './redis-replication-status.ts';

/** Records why nothing is transferred at the moment, for all databases of the server. */
export function impedeDatabases({ databases }: MigrationProgress, phase: ImpededPhase, reason: string): void {
  // Before the first poll of both servers their databases are not known.
  if (databases.length === 0) databases.push({ ...createDatabaseProgress('db0'), method: 'continuous' });
  for (const progress of databases) impede(progress, phase, reason);
}

/** Records a poll of both servers. */
export function updateProgress(
  migrationProgress: MigrationProgress,
  { isUp, lagBytes, databases }: RedisReplicationStatus,
): void {
  for (const { name, keys: keyCount } of databases) {
    let progress = migrationProgress.databases.find((one) => one.name === name);
    if (progress === undefined) {
      progress = createDatabaseProgress(name);
      progress.method = 'continuous';
      migrationProgress.databases.push(progress);
    }
    progress.tables = [keyCount];
    progress.lagBytes = lagBytes;
    progress.reason = undefined;
    progress.phase = isUp ? 'streaming' : 'copying';
  }
}

import { timeoutSignal } from '../../../platform/timeout-signal.ts';
import { formatRedisCommand } from '../../../redis/quote.ts';
import type { MigrationLeftoverObject } from '../engine-migration-state.ts';
import type { MigrationEngineDependencies } from '../migration-engine-input.ts';
import { redactErrorReason } from '../migration-error.ts';
import type { RedisMigrationCleanupEntry } from '../migration-journal.ts';
import {
  isRedisReplicaOfSource,
  readRedisServerInfo,
  readReplicationSettingsOfRedisReplica,
  writeRedisReplicaSettings,
} from './replica.ts';

/**
 * Promotes the Redis target (REPLICAOF NO ONE) and restores its settings; the keys remain. Retries a failed command
 * until `removalTimeout` has passed.
 */
export async function detachRedisTarget(
  entry: RedisMigrationCleanupEntry,
  deps: MigrationEngineDependencies,
): Promise<readonly MigrationLeftoverObject[]> {
  const signal = timeoutSignal(deps.limits.removalTimeout);
  for (let attempt = 0; ; attempt++) {
    try {
      await detachOnce(entry, deps);
      return [];
    } catch (error) {
      try {
        await deps.sleep(Math.min(100 * 2 ** attempt, 1000), signal);
      } catch {
        return [leftover(entry, error)];
      }
    }
  }
}

async function detachOnce(
  { source, target, settings }: RedisMigrationCleanupEntry,
  deps: MigrationEngineDependencies,
): Promise<void> {
  const session = await deps.connectRedis(target, { limit: deps.limits.connectTimeout });
  try {
    if (isRedisReplicaOfSource(await readRedisServerInfo(session), source))
      await session.send(['REPLICAOF', 'NO', 'ONE']);
    await writeRedisReplicaSettings(session, settings, await readReplicationSettingsOfRedisReplica(session));
  } finally {
    session.end();
  }
}

function leftover({ source, target }: RedisMigrationCleanupEntry, error: unknown): MigrationLeftoverObject {
  return {
    side: 'target',
    database: '',
    object: 'replication',
    statement: formatRedisCommand('REPLICAOF', 'NO', 'ONE'),
    reason: redactErrorReason(error, source.password, target.password),
  };
}

import { formatRedisCommand } from '../../redis/quote.ts';
import { redactedReason } from '../migration-error.ts';
import type { EngineDependencies } from '../migration-job.ts';
import type { RedisJournalEntry } from '../migration-journal.ts';
import type { LeftoverObject } from '../migration-state.ts';
import { isReplicaOf, readReplicaSettings, readServerInfo, writeReplicaSettings } from './replica.ts';

/**
 * Promotes the Redis target (REPLICAOF NO ONE) and restores its settings; the keys remain. Retries a failed command
 * until `removalTimeout` has passed.
 */
export async function detachTarget(
  entry: RedisJournalEntry,
  deps: EngineDependencies,
): Promise<readonly LeftoverObject[]> {
  const signal = AbortSignal.timeout(deps.limits.removalTimeout);
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

async function detachOnce({ source, target, settings }: RedisJournalEntry, deps: EngineDependencies): Promise<void> {
  const session = await deps.connectRedis(target, { limit: deps.limits.connectTimeout });
  try {
    if (isReplicaOf(await readServerInfo(session), source)) await session.send(['REPLICAOF', 'NO', 'ONE']);
    await writeReplicaSettings(session, settings, await readReplicaSettings(session));
  } finally {
    session.end();
  }
}

function leftover({ source, target }: RedisJournalEntry, error: unknown): LeftoverObject {
  return {
    side: 'target',
    database: '',
    object: 'replication',
    statement: formatRedisCommand('REPLICAOF', 'NO', 'ONE'),
    reason: redactedReason(error, source.password, target.password),
  };
}

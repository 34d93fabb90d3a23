import { formatRedisCommand } from '../../redis/quote.ts';
import { redactedReason } from '../migration-error.ts';
import type { EngineDependencies } from '../migration-job.ts';
import type { RedisJournalEntry } from '../migration-journal.ts';
import type { LeftoverObject } from '../migration-state.ts';
import { isReplicaOf, readReplicaSettings, readServerInfo, writeReplicaSettings } from './replica.ts';

/** Makes the target stand alone, with the settings it had; its keys stay. Tries again until `waits.removal` is over. */
export async function detachTarget(
  entry: RedisJournalEntry,
  ports: EngineDependencies,
): Promise<readonly LeftoverObject[]> {
  const signal = AbortSignal.timeout(ports.limits.removalTimeout);
  for (let attempt = 0; ; attempt++) {
    try {
      await detachOnce(entry, ports);
      return [];
    } catch (error) {
      try {
        await ports.sleep(Math.min(100 * 2 ** attempt, 1000), signal);
      } catch {
        return [leftover(entry, error)];
      }
    }
  }
}

async function detachOnce({ source, target, settings }: RedisJournalEntry, ports: EngineDependencies): Promise<void> {
  const session = await ports.connectRedis(target, { limit: ports.limits.connectTimeout });
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

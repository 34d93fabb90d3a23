import { commandLine } from '../../redis/quote.ts';
import type { EnginePorts } from '../job.ts';
import type { RedisEntry } from '../journal.ts';
import type { Leftover } from '../state.ts';
import { reasonOf } from '../words.ts';
import { follows, infoOf, readSettings, writeSettings } from './target.ts';

/** Makes the target stand alone, with the settings it had; its keys stay. Tries again until `waits.removal` is over. */
export async function release(entry: RedisEntry, ports: EnginePorts): Promise<readonly Leftover[]> {
  const signal = AbortSignal.timeout(ports.waits.removal);
  for (let attempt = 0; ; attempt++) {
    try {
      await releaseOnce(entry, ports);
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

async function releaseOnce({ source, target, settings }: RedisEntry, ports: EnginePorts): Promise<void> {
  const session = await ports.connectRedis(target, { limit: ports.waits.connect });
  try {
    if (follows(await infoOf(session), source)) await session.send(['REPLICAOF', 'NO', 'ONE']);
    await writeSettings(session, settings, await readSettings(session));
  } finally {
    session.end();
  }
}

function leftover({ source, target }: RedisEntry, error: unknown): Leftover {
  return {
    side: 'target',
    database: '',
    object: 'replication',
    statement: commandLine('REPLICAOF', 'NO', 'ONE'),
    reason: reasonOf(error, source.password, target.password),
  };
}

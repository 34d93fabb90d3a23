import { DatabaseConnectError } from '../../platform/connect-error.ts';
import type { Clock } from '../../platform/host.ts';
import { connectPostgresql } from '../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import { PostgresqlQueryError } from '../../postgresql/query-error.ts';
import { RedisCommandError } from '../../redis/command-error.ts';
import { connectRedis, type RedisConnection } from '../../redis/connection.ts';
import type { RedisEndpoint } from '../../redis/endpoint.ts';
import { readRedisInfoNumber } from '../../redis/info.ts';
import { readServerInfo } from '../engine/redis/replica.ts';
import type { TargetWord } from '../watch/identity.ts';
import { defaultMigrationWatchLimits } from '../watch/migration-watch-limits.ts';
import type { CutoverFacts } from './cutover-checklist.ts';
import { queryCatalogRows } from './postgresql/rehearsal-tables.ts';

const limit = 10_000;
const applicationName = 'cloudctl-cutover';

/** Reads which slots the enabled subscriptions of a target read. What its role may not read is left out. */
export async function readTargetWord(target: PostgresqlEndpoint, signal: AbortSignal): Promise<TargetWord> {
  const session = await connectPostgresql(target, { dbname: target.dbname, limit, signal, applicationName });
  const rows = async (sql: string) => {
    try {
      return await queryCatalogRows(session, sql);
    } catch (error) {
      if (error instanceof PostgresqlQueryError && !error.lost) return [];
      throw error;
    }
  };
  try {
    const slots = await rows(
      `SELECT s.subslotname AS name, d.datname AS database FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid
       WHERE s.subenabled AND s.subslotname IS NOT NULL`,
    );
    const [control] = await rows('SELECT system_identifier::text AS system FROM pg_control_system()');
    return {
      slots: slots.map(({ name, database }) => ({ name: name ?? '', database: database ?? '' })),
      system: control?.system ?? undefined,
    };
  } finally {
    await session.end();
  }
}

/**
 * Compares the replication of a Redis target with its source until nothing is left, at the latest until `end`: the target
 * must be a replica whose link is up, with the replication id of the source. undefined: the target may not be asked.
 */
export async function watchRedisTarget(
  source: RedisEndpoint,
  target: RedisEndpoint,
  { clock, signal, end }: { readonly clock: Clock; readonly signal: AbortSignal; readonly end: number },
): Promise<CutoverFacts['lag']> {
  const opened: RedisConnection[] = [];
  try {
    for (const server of [source, target]) opened.push(await connectRedis(server, { limit, signal }));
    const [primary, replica] = opened;
    if (primary === undefined || replica === undefined) return undefined;
    for (let idlePolls = 0; ; ) {
      const before = await readServerInfo(primary);
      const after = await readServerInfo(replica);
      const foreign = foreignReason(before, after);
      const [written, received] = [
        readRedisInfoNumber(before, 'master_repl_offset'),
        readRedisInfoNumber(after, 'slave_repl_offset'),
      ];
      const isIdle = foreign === undefined && written !== undefined && received !== undefined && received >= written;
      idlePolls = isIdle ? idlePolls + 1 : 0;
      if (idlePolls >= defaultMigrationWatchLimits.idlePolls)
        return {
          isIdle: true,
          observed: `nothing left to replicate in ${idlePolls} polls; identified by the replication status of the target (proven)`,
        };
      // Writes to the source are counted in the same time, so a target that is no replica does not end it.
      if (clock.now() >= end) {
        const behind = `${Math.max(0, (written ?? 0) - (received ?? 0))} bytes behind`;
        return { isIdle: false, observed: foreign ?? `the target is a replica of the source, ${behind}` };
      }
      await clock.sleep(1000, signal);
    }
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof RedisCommandError || error instanceof DatabaseConnectError) return undefined;
    throw error;
  } finally {
    for (const session of opened) session.end();
  }
}

type ServerInfo = Awaited<ReturnType<typeof readServerInfo>>;

/** Why the target does not follow the source, as far as it says; undefined: it does. */
function foreignReason(source: ServerInfo, target: ServerInfo): string | undefined {
  if (target.get('role') !== 'slave') return 'the target is not a replica of the source: its role is master';
  if (target.get('master_link_status') !== 'up')
    return 'the target is a replica, but its link to its primary is down (master_link_status)';
  if (target.get('master_replid') !== source.get('master_replid'))
    return 'the target is a replica of another server: its replication id differs from the one of the source';
  return undefined;
}

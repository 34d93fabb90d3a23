import { connectPostgresql, type PostgresqlSession } from '../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import { connectRedis } from '../../redis/connection.ts';
import type { RedisEndpoint } from '../../redis/endpoint.ts';
import type { InfoField, RedisInfo } from '../../redis/info.ts';
import { readServerInfo } from '../engine/tools.ts';
import type { DbSource } from '../source/index.ts';
import { queryCatalogRows } from './postgresql/tables.ts';

/** A reading of how much was written to a server so far. */
export interface WriteActivity {
  /** A counter that grows with every transaction that writes (PostgreSQL), or with every change of a key (Redis). */
  readonly counter: number;
  /** For Redis, the time at which the counter began at 0. */
  readonly since: string;
  /**
   * The transactions that have written and have not ended. A standby or replica cannot list what is written to its primary, so
   * for it the list always has one entry that states this.
   */
  readonly open: readonly string[];
}

const limit = 10_000;
const applicationName = 'cloudctl-cutover';

/**
 * Reads the write activity of a server; the server is only read. Rejects with a ConnectError, a QueryError or a
 * CommandError if the server cannot be read.
 */
export function readActivity(server: DbSource, signal: AbortSignal): Promise<WriteActivity> {
  return server.engine === 'redis'
    ? readRedisActivity(server.source, signal)
    : readPostgresActivity(server.source, signal);
}

/** The number of changes between two readings; at least 1 if the counter was reset in between. */
export function countWrites(before: WriteActivity, after: WriteActivity): number {
  if (before.since !== after.since) return Math.max(1, after.counter);
  return Math.max(0, after.counter - before.counter);
}

async function readPostgresActivity(source: PostgresqlEndpoint, signal: AbortSignal): Promise<WriteActivity> {
  const session = await connectPostgresql(source, { dbname: source.dbname, limit, signal, applicationName });
  try {
    return await readPostgresqlActivity(session);
  } finally {
    await session.end();
  }
}

/**
 * PostgreSQL assigns a transaction id when a transaction first writes. Transactions of the server itself, such as
 * autovacuum, count too.
 */
export async function readPostgresqlActivity(session: Pick<PostgresqlSession, 'query'>): Promise<WriteActivity> {
  const [next] = await queryCatalogRows(session, 'SELECT txid_snapshot_xmax(txid_current_snapshot())::text AS next');
  const open = await queryCatalogRows(
    session,
    `SELECT concat_ws(' ', 'pid', a.pid, a.usename, nullif(a.application_name, ''), a.client_addr) AS who
     FROM pg_stat_activity a WHERE a.backend_xid IS NOT NULL AND a.pid <> pg_backend_pid()
     UNION ALL SELECT concat_ws(' ', 'prepared transaction', p.gid) FROM pg_prepared_xacts p
     UNION ALL SELECT 'transactions of the primary, which a standby does not show' WHERE pg_is_in_recovery()`,
  );
  return { counter: Number(next?.next), since: '', open: open.map(({ who }) => who ?? '') };
}

async function readRedisActivity(source: RedisEndpoint, signal: AbortSignal): Promise<WriteActivity> {
  const session = await connectRedis(source, { limit, signal });
  try {
    return decodeRedisActivity(await readServerInfo(session));
  } finally {
    session.end();
  }
}

interface RedisInfoOfBoth {
  readonly source: RedisInfo;
  readonly target: RedisInfo;
}

/**
 * Why the keys of two servers may have been written to between two readings of INFO; undefined if it is proven that they
 * were not. A key that expires is no write: a primary does not count it as a change, and a replica, which counts the DEL of
 * its primary, has no writer but its primary. `isReset`: a server began a new count, so another reading may prove it.
 */
export function describeRedisWrites(
  before: RedisInfoOfBoth,
  after: RedisInfoOfBoth,
): { readonly reason: string; readonly isReset: boolean } | undefined {
  return (
    describeWritesOfOne('source', before.source, after.source) ??
    describeWritesOfOne('target', before.target, after.target)
  );
}

function describeWritesOfOne(side: 'source' | 'target', before: RedisInfo, after: RedisInfo) {
  const isUnchanged = (...fields: readonly InfoField[]): boolean =>
    fields.every((field) => before.has(field) && before.get(field) === after.get(field));
  const because = (reason: string, isReset = false) => ({ reason: `${reason} during the comparison`, isReset });
  if (before.get('run_id') !== after.get('run_id')) return because(`the ${side} was restarted`);
  if (before.get('role') !== after.get('role')) return because(`the ${side} changed its role`);
  if (before.get('evicted_keys') !== after.get('evicted_keys'))
    return because(`the ${side} removed keys because its memory is full (maxmemory)`);
  // Nothing at all was replicated, so nothing was written either. Without a backlog the offset does not grow.
  const isStill = before.get('repl_backlog_active') === '1' && isUnchanged('master_replid', 'master_repl_offset');
  if (isStill) return undefined;
  const isReplica = before.get('role') === 'slave';
  if (side === 'target' && isReplica && isUnchanged('master_replid') && after.get('slave_read_only') === '1')
    return undefined;
  if (!before.has('rdb_changes_since_last_save'))
    return { reason: `the ${side} does not report whether it is written to`, isReset: false };
  if (!isUnchanged('rdb_last_save_time')) return because(`the ${side} saved its data`, true);
  if (isUnchanged('rdb_changes_since_last_save')) return undefined;
  return side === 'source' && isReplica
    ? because('the source received changes of its own primary, which may be keys that expired,')
    : because(`the ${side} was written to`);
}

export function decodeRedisActivity(info: RedisInfo): WriteActivity {
  return {
    counter: Number(info.get('rdb_changes_since_last_save')),
    since: `${info.get('run_id')} ${info.get('rdb_last_save_time')}`,
    open: [
      ...(info.get('loading') === '1' ? ['clients that wait until the source has loaded its data'] : []),
      ...(info.get('role') === 'slave'
        ? [
            `writes to its primary ${info.get('master_host')}:${info.get('master_port')}, which a replica does not show: promote the source (REPLICAOF NO ONE) when the application has stopped`,
          ]
        : []),
    ],
  };
}

import { CliError, type CliErrorCode, usageError } from '../../../base/errors.ts';
import { DatabaseConnectError } from '../../../platform/connect-error.ts';
import { RedisCommandError } from '../../../redis/command-error.ts';
import { connectRedis, type RedisConnection } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { parseKeyspace, type RedisInfo } from '../../../redis/info.ts';
import { parseRedisServerVersion } from '../../../redis/version.ts';
import { redactReason } from '../../engine/error.ts';
import { readServerInfo } from '../../engine/redis/replica.ts';
import { unreachableSourceHint } from '../../source/unreachable-source-hint.ts';
import {
  buildDatabaseComparisonEntry,
  type DatabaseComparisonEntry,
  type DatabaseComparisonOptions,
  type DatabaseComparisonReport,
  dataExcludedFromComparison,
  pickWorstComparisonResult,
} from '../comparison-report.ts';
import { migrationTargetInputNames, targetLoginHint } from '../target-login-hint.ts';
import { type CompareRedisKeysOptions, compareRedisDatabaseKeys } from './compare-redis-database-keys.ts';
import { canReadRedisExpiryTimes } from './redis-key-content.ts';

type ComparedServers = Omit<DatabaseComparisonReport, 'schema_version' | 'engine' | 'started_at' | 'seconds'>;

/** Compares the keys of every database. */
export async function compareRedisServerContents(
  source: RedisEndpoint,
  target: RedisEndpoint,
  { signal, clock, maxRounds, onProgress }: DatabaseComparisonOptions,
): Promise<ComparedServers> {
  const limits = { signal, clock, maxRounds };
  const from = await openSession(source, 'source', signal);
  try {
    const to = await openSession(target, 'target', signal);
    try {
      const [before, there] = [await readServerInfo(from), await readServerInfo(to)];
      if (before.has('run_id') && before.get('run_id') === there.get('run_id'))
        throw usageError('source and target are the same server', 'give another server with `--target`');
      const indexes = [...new Set([...keyspaceOf(before), ...keyspaceOf(there)])].sort((a, b) => a - b);
      const hasExpiryTimes = (await canReadRedisExpiryTimes(from)) && (await canReadRedisExpiryTimes(to));
      // CLIENT NO-TOUCH is sent, because reading a key would otherwise count as its last use.
      for (const session of [from, to]) await session.send(['CLIENT', 'NO-TOUCH', 'ON']).catch(ignoreRefusal);
      const databases: DatabaseComparisonEntry[] = [];
      for (const [done, index] of indexes.entries()) {
        onProgress({ database: `db${index}`, done, total: indexes.length });
        databases.push(await compareOneDatabase(index, { source: from, target: to, hasExpiryTimes, ...limits }));
      }
      if ([before, there].some((info) => info.get('cluster_enabled') === '1')) databases.push(otherNodes);
      return {
        state: pickWorstComparisonResult(databases.map(({ state }) => state)),
        source: serverOf(source, before),
        target: serverOf(target, there),
        databases,
        not_compared: [
          ...dataExcludedFromComparison.redis,
          ...(hasExpiryTimes ? [] : ['times of expiry, because a server is older than Redis 7.0']),
        ],
      };
    } finally {
      to.end();
    }
  } finally {
    from.end();
  }
}

const otherNodes = buildDatabaseComparisonEntry({
  ...{ name: 'cluster', tables: [], sequences: [], not_compared: [] },
  error: 'a server is in cluster mode, and the keys of its other nodes were not compared',
});

async function compareOneDatabase(
  index: number,
  options: Omit<CompareRedisKeysOptions, 'index'>,
): Promise<DatabaseComparisonEntry> {
  const parts = { name: `db${index}`, tables: [], sequences: [], not_compared: [] };
  try {
    return buildDatabaseComparisonEntry({ ...parts, tables: [await compareRedisDatabaseKeys({ index, ...options })] });
  } catch (error) {
    if (options.signal.aborted || !(error instanceof RedisCommandError)) throw error;
    return buildDatabaseComparisonEntry({ ...parts, error: redactReason(error) });
  }
}

function keyspaceOf(info: RedisInfo): readonly number[] {
  return parseKeyspace(info).map(({ index }) => index);
}

/** A server before Redis 7.2 does not have CLIENT NO-TOUCH. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof RedisCommandError) || error.lost) throw error;
}

function serverOf({ host, port }: RedisEndpoint, info: RedisInfo) {
  return { host, port, version: parseRedisServerVersion(info)?.version ?? 'unknown' };
}

async function openSession(
  server: RedisEndpoint,
  side: 'source' | 'target',
  signal: AbortSignal,
): Promise<RedisConnection> {
  try {
    return await connectRedis(server, { limit: 10_000, signal });
  } catch (error) {
    if (!(error instanceof DatabaseConnectError || error instanceof RedisCommandError)) throw error;
    const code: CliErrorCode = side === 'source' ? 'source_unreachable' : 'unreachable';
    throw new CliError(code, `could not connect to the ${side}: ${redactReason(error, server.password)}`, {
      detail: `${server.host}:${server.port}`,
      hint:
        side === 'target'
          ? targetLoginHint(error, migrationTargetInputNames)
          : unreachableSourceHint({ engine: 'redis', source: server }, error.code),
      cause: error,
    });
  }
}

import { CliError, type CliErrorCode, usageError } from '../../../base/errors.ts';
import { DatabaseConnectError } from '../../../platform/connect-error.ts';
import { RedisCommandError } from '../../../redis/command-error.ts';
import { connectRedis } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { parseKeyspace, type RedisInfo } from '../../../redis/info.ts';
import { parseRedisServerVersion } from '../../../redis/version.ts';
import { readServerInfo, redactReason } from '../../engine/tools.ts';
import { unreachableHint } from '../../source/index.ts';
import {
  buildDatabaseComparisonEntry,
  type DatabaseComparisonEntry,
  type DatabaseComparisonOptions,
  type DatabaseComparisonReport,
  dataExcludedFromComparison,
  pickWorstComparisonResult,
} from '../comparison-report.ts';
import { targetInputs, targetLoginHint } from '../target.ts';
import {
  type CompareRedisKeysOptions,
  compareRedisDatabaseKeys,
  withComparedRedisServers,
} from './compare-redis-database-keys.ts';

type ComparedServers = Omit<DatabaseComparisonReport, 'schema_version' | 'engine' | 'started_at' | 'seconds'>;

/** Compares the keys of every database. */
export async function compareRedisServerContents(
  source: RedisEndpoint,
  target: RedisEndpoint,
  { signal, clock, maxRounds, catchUpTimeout, onProgress }: DatabaseComparisonOptions,
): Promise<ComparedServers> {
  for (const [server, side] of [[source, 'source'] as const, [target, 'target'] as const])
    await expectReachable(server, side, signal);
  return withComparedRedisServers({ source, target }, signal, async (servers) => {
    const before = await readServerInfo(servers.source.session);
    const there = await readServerInfo(servers.target.session);
    if (before.has('run_id') && before.get('run_id') === there.get('run_id'))
      throw usageError('source and target are the same server', 'give another server with `--target`');
    const indexes = [...new Set([...keyspaceOf(before), ...keyspaceOf(there)])].sort((a, b) => a - b);
    const databases: DatabaseComparisonEntry[] = [];
    for (const [done, index] of indexes.entries()) {
      onProgress({ database: `db${index}`, done, total: indexes.length });
      databases.push(await compareOneDatabase({ index, ...servers, ...{ signal, clock, maxRounds, catchUpTimeout } }));
    }
    if ([before, there].some((info) => info.get('cluster_enabled') === '1')) databases.push(otherNodes);
    return {
      state: pickWorstComparisonResult(databases.map(({ state }) => state)),
      source: serverOf(source, before),
      target: serverOf(target, there),
      databases,
      not_compared: [
        ...dataExcludedFromComparison.redis,
        ...(servers.hasExpiryTimes ? [] : ['times of expiry, because a server is older than Redis 7.0']),
      ],
    };
  });
}

const otherNodes = buildDatabaseComparisonEntry({
  ...{ name: 'cluster', tables: [], sequences: [], not_compared: [] },
  error: 'a server is in cluster mode, and the keys of its other nodes were not compared',
});

async function compareOneDatabase(options: CompareRedisKeysOptions): Promise<DatabaseComparisonEntry> {
  const parts = { name: `db${options.index}`, tables: [], sequences: [], not_compared: [] };
  try {
    return buildDatabaseComparisonEntry({ ...parts, tables: [await compareRedisDatabaseKeys(options)] });
  } catch (error) {
    if (options.signal.aborted || !(error instanceof RedisCommandError)) throw error;
    return buildDatabaseComparisonEntry({ ...parts, error: redactReason(error) });
  }
}

function keyspaceOf(info: RedisInfo): readonly number[] {
  return parseKeyspace(info).map(({ index }) => index);
}

function serverOf({ host, port }: RedisEndpoint, info: RedisInfo) {
  return { host, port, version: parseRedisServerVersion(info)?.version ?? 'unknown' };
}

/** Throws the error of the side that cannot be reached. */
async function expectReachable(server: RedisEndpoint, side: 'source' | 'target', signal: AbortSignal): Promise<void> {
  try {
    (await connectRedis(server, { limit: 10_000, signal })).end();
  } catch (error) {
    if (!(error instanceof DatabaseConnectError || error instanceof RedisCommandError)) throw error;
    const code: CliErrorCode = side === 'source' ? 'source_unreachable' : 'unreachable';
    throw new CliError(code, `could not connect to the ${side}: ${redactReason(error, server.password)}`, {
      detail: `${server.host}:${server.port}`,
      hint:
        side === 'target'
          ? targetLoginHint(error, targetInputs)
          : unreachableHint({ engine: 'redis', source: server }, error.code),
      cause: error,
    });
  }
}

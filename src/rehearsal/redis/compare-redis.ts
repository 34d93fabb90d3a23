import { redactedReason } from '../../engine/migration-error.ts';
import { readServerInfo } from '../../engine/redis/replica.ts';
import { CliError, type ErrorCode, usageError } from '../../errors.ts';
import { ConnectError } from '../../platform/connect-error.ts';
import { CommandError } from '../../redis/command-error.ts';
import { connectRedis, type RedisSession } from '../../redis/connection.ts';
import { parseKeyspace, type RedisInfo } from '../../redis/info.ts';
import type { RedisSource } from '../../redis/source.ts';
import { parseServerVersion } from '../../redis/version.ts';
import type { CompareDatabasesOptions } from '../compare-databases.ts';
import {
  type ComparedDatabase,
  type ComparisonReport,
  comparedDatabase,
  worstComparison,
} from '../comparison-report.ts';

export type CompareRedisOptions = Required<Omit<CompareDatabasesOptions, 'source' | 'target' | 'ignoreDbs'>>;

type ComparedServers = Omit<ComparisonReport, 'schema_version' | 'engine' | 'started_at' | 'seconds'>;

/** Compares the keys of every database. */
export async function compareRedis(
  source: RedisSource,
  target: RedisSource,
  { signal, onProgress }: CompareRedisOptions,
): Promise<ComparedServers> {
  const from = await openSession(source, 'source', signal);
  try {
    const to = await openSession(target, 'target', signal);
    try {
      const [before, there] = [await readServerInfo(from), await readServerInfo(to)];
      if (before.has('run_id') && before.get('run_id') === there.get('run_id'))
        throw usageError('source and target are the same server', 'give another server with `--target`');
      const indexes = [...new Set([...keysByDatabase(before).keys(), ...keysByDatabase(there).keys()])].sort(
        (a, b) => a - b,
      );
      const databases: ComparedDatabase[] = [];
      for (const [done, index] of indexes.entries()) {
        onProgress({ database: `db${index}`, done, total: indexes.length });
        const rows = {
          rows_source: keysByDatabase(before).get(index) ?? 0,
          rows_target: keysByDatabase(there).get(index) ?? 0,
        };
        const isEqual = rows.rows_source === rows.rows_target;
        const state = isEqual ? 'not_comparable' : 'differs';
        databases.push(
          comparedDatabase({
            name: `db${index}`,
            tables: [{ name: 'keys', ...rows, state, ...(isEqual ? { error: 'the values were not read' } : {}) }],
            ...{ sequences: [], not_compared: [] },
          }),
        );
      }
      return {
        state: worstComparison(databases.map(({ state }) => state)),
        source: serverOf(source, before),
        target: serverOf(target, there),
        databases,
        not_compared: ['ACL users and settings'],
      };
    } finally {
      to.end();
    }
  } finally {
    from.end();
  }
}

function keysByDatabase(info: RedisInfo): ReadonlyMap<number, number> {
  return new Map(parseKeyspace(info).map(({ index, keys }) => [index, keys]));
}

function serverOf({ host, port }: RedisSource, info: RedisInfo) {
  return { host, port, version: parseServerVersion(info)?.version ?? 'unknown' };
}

async function openSession(server: RedisSource, side: 'source' | 'target', signal: AbortSignal): Promise<RedisSession> {
  try {
    return await connectRedis(server, { limit: 10_000, signal });
  } catch (error) {
    if (!(error instanceof ConnectError || error instanceof CommandError)) throw error;
    const code: ErrorCode = side === 'source' ? 'source_unreachable' : 'unreachable';
    throw new CliError(code, `could not connect to the ${side}: ${redactedReason(error, server.password)}`, {
      detail: `${server.host}:${server.port}`,
      hint: `check the address in \`--${side}\` and the access rules of the ${side}`,
      cause: error,
    });
  }
}

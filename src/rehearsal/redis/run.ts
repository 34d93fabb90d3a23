import { cleanUpFromJournal } from '../../engine/clean-up-from-journal.ts';
import { createEngineDependencies } from '../../engine/engine-dependencies.ts';
import { redactedReason } from '../../engine/migration-error.ts';
import { defaultEngineLimits, type EngineDependencies } from '../../engine/migration-job.ts';
import { isReplicaOf, readServerInfo } from '../../engine/redis/replica.ts';
import { startMigrationJob } from '../../engine/running-migration.ts';
import { CliError, usageError } from '../../errors.ts';
import { connectRedis, type RedisSession } from '../../redis/connection.ts';
import { infoNumber, parseKeyspace, type RedisInfo } from '../../redis/info.ts';
import { formatRedisCommand } from '../../redis/quote.ts';
import type { RedisSource } from '../../redis/source.ts';
import { parseServerVersion } from '../../redis/version.ts';
import { waitForCatchUp } from '../catch-up.ts';
import { compareCounts, mayBecomeEqual } from '../compare-counts.ts';
import { createRecordJournal, type RehearsalEndpoints } from '../postgresql/clean-up.ts';
import type { RehearsalRecordFile } from '../rehearsal-record.ts';
import type { DatabaseRehearsal, Leftover, TableCount } from '../rehearsal-report.ts';
import type { RehearsalRunParams, RehearsalRunResult } from '../run-params.ts';
import { compareDatabaseKeys } from './compare-keys.ts';
import { knowsExpiryTimes } from './read-key.ts';

export interface RedisRunParams extends RehearsalRunParams {
  readonly endpoints: RehearsalEndpoints<RedisSource>;
  readonly file: RehearsalRecordFile;
}

/** Reads the target of the rehearsal. Throws a CliError if it is not empty, is a replica, or cannot be reached. */
export async function inspectRedisTarget(
  { source, target }: RehearsalEndpoints<RedisSource>,
  signal: AbortSignal,
): Promise<{ readonly version: string }> {
  const look = async (session: RedisSession) => ({
    info: await readServerInfo(session),
    functions: await listFunctionLibraries(session),
  });
  const there = await withTargetSession(target, look, signal);
  const run = there.info.get('run_id');
  // Errors of the source are ignored, because the preflight reports a source that cannot be reached.
  const from = await withRehearsalSession(source, readServerInfo, signal).catch(() => undefined);
  if (from !== undefined && run !== undefined && from.get('run_id') === run) {
    throw usageError('source and target are the same server', 'give another server with `--into`');
  }
  const keys = parseKeyspace(there.info).map(({ index, keys: count }) => `database ${index} has ${count} keys`);
  const held = [
    ...keys,
    ...there.functions.map((name) => `function library ${name}`),
    ...(there.info.get('role') === 'slave' ? [`the target is a replica of ${there.info.get('master_host')}`] : []),
  ];
  if (held.length > 0) {
    throw new CliError('preflight_blocked', 'the target is not empty', {
      detail: held.join('\n'),
      hint: 'give an empty server with `--into`: replication deletes existing keys; nothing was changed',
    });
  }
  const version = parseServerVersion(there.info);
  return { version: version === undefined ? 'unknown' : `${version.product}-${version.version}` };
}

export function createRedisPorts(
  { clock, random }: Pick<RehearsalRunParams, 'clock' | 'random'>,
  file: RehearsalRecordFile,
  endpoints: RehearsalEndpoints<RedisSource>,
): EngineDependencies {
  return createEngineDependencies({
    now: () => clock.now(),
    random,
    journal: createRecordJournal(file, endpoints),
    schemaCopy: () => Promise.reject(new Error('Redis has no schema')),
    limits: { ...defaultEngineLimits, pollInterval: 500 },
  });
}

export async function runRedisRehearsal(params: RedisRunParams): Promise<RehearsalRunResult> {
  const { endpoints, file, signal, clock, stallTimeout, maxRounds } = params;
  const ports = createRedisPorts(params, file, endpoints);
  const order = { id: file.current().id, deadline: Number.POSITIVE_INFINITY, finishWhenIdle: false };
  const migration = startMigrationJob({ engine: 'redis', ...order, ...endpoints }, ports);
  try {
    const arrival = await waitForCatchUp(migration, {
      clock,
      signal,
      poll: 250,
      stallTimeout,
      onState: params.onState,
    });
    const tables = arrival.kind === 'arrived' ? await compareKeys(endpoints, { maxRounds, clock, signal }) : new Map();
    params.onCompared();
    const last = migration.state();
    await migration.stop('stopped_by_user');
    const stuck = arrival.kind === 'stuck' ? ['the target does not replicate the source; its log has the reason'] : [];
    const names = new Set([...last.databases.map(({ name }) => name), ...tables.keys()]);
    const databases = [...names].map((name): DatabaseRehearsal => {
      const keys = tables.get(name);
      return {
        name,
        method: 'continuous',
        seconds: Math.round((arrival.seconds.get(name) ?? 0) * 10) / 10,
        tables: keys === undefined ? [] : [keys],
        sequences: [],
        errors: [],
        warnings: [],
      };
    });
    const reason = arrival.kind === 'over' && last.reason !== undefined ? [last.reason] : [];
    return { databases, errors: [...reason, ...stuck], warnings: last.warnings };
  } finally {
    await migration.stop('interrupted');
  }
}

/** Counts the keys of each database on both servers, after the target has reached the replication offset of the source. */
async function compareKeys(
  { source, target }: RehearsalEndpoints<RedisSource>,
  { maxRounds, clock, signal }: Pick<RehearsalRunParams, 'maxRounds' | 'clock' | 'signal'>,
): Promise<ReadonlyMap<string, TableCount>> {
  let found: readonly TableCount[] = [];
  for (let attempt = 0; attempt < maxRounds; attempt++) {
    if (attempt > 0) await clock.sleep(Math.min(1000, 100 * 2 ** attempt), signal);
    const before = await withRehearsalSession(source, readServerInfo);
    const end = infoNumber(before, 'master_repl_offset') ?? 0;
    const there = await withRehearsalSession(target, async (session) => {
      for (const limit = performance.now() + 10_000; performance.now() < limit; ) {
        const info = await readServerInfo(session);
        if ((infoNumber(info, 'slave_repl_offset') ?? 0) >= end) return info;
        await clock.sleep(100, signal);
      }
      return readServerInfo(session);
    });
    const after = await withRehearsalSession(source, readServerInfo);
    found = compareCounts({ before: keyCounts(before), target: keyCounts(there), after: keyCounts(after) });
    if (!found.some(mayBecomeEqual)) break;
  }
  const contents = await compareKeyContents({ source, target }, found, { clock, signal });
  return new Map(found.map((one) => [one.name, { ...(contents.get(one.name) ?? one), name: 'keys' }]));
}

/** If a database has equally many keys on both servers, compares all its keys. */
async function compareKeyContents(
  { source, target }: RehearsalEndpoints<RedisSource>,
  counts: readonly TableCount[],
  { clock, signal }: Pick<RehearsalRunParams, 'clock' | 'signal'>,
): Promise<ReadonlyMap<string, TableCount>> {
  const contents = new Map<string, TableCount>();
  await withRehearsalSession(
    source,
    (from) =>
      withRehearsalSession(
        target,
        async (to) => {
          const hasExpiryTimes = (await knowsExpiryTimes(from)) && (await knowsExpiryTimes(to));
          const options = { source: from, target: to, hasExpiryTimes, maxRounds: 3, clock, signal };
          for (const { name } of counts.filter(({ state }) => state === 'equal'))
            contents.set(name, await compareDatabaseKeys({ index: Number(name.replace('db', '')), ...options }));
        },
        signal,
      ),
    signal,
  );
  return contents;
}

function keyCounts(info: RedisInfo): ReadonlyMap<string, number> {
  return new Map(parseKeyspace(info).map(({ index, keys }) => [`db${index}`, keys]));
}

/**
 * Ends the replication and deletes all keys of the target, which was empty before.
 * @param isLate whether the rehearsal was interrupted: keys are then deleted only while the target still replicates the
 * source
 */
export async function cleanUpRedis(
  file: RehearsalRecordFile,
  endpoints: RehearsalEndpoints<RedisSource>,
  ports: EngineDependencies,
  { keep, isLate }: { readonly keep: boolean; readonly isLate: boolean },
): Promise<readonly Leftover[]> {
  const isFilled = file.current().filled.length > 0 && !keep;
  let left: Leftover[] = [];
  try {
    const isOurs =
      !isLate ||
      (await withRehearsalSession(endpoints.target, async (one) =>
        isReplicaOf(await readServerInfo(one), endpoints.source),
      ));
    left = [...(await cleanUpFromJournal(ports))];
    if (isFilled && isOurs && left.length === 0) await withRehearsalSession(endpoints.target, flushTarget);
    // The target stopped replicating the source after the rehearsal began, so another program may have written the keys.
    else if (isFilled && left.length === 0)
      left = [
        keysLeftover(
          'the target no longer replicates the source, so the keys may have been written by another program',
        ),
      ];
    if (isLate && left.length === 1 && !isOurs) file.remove();
  } catch (error) {
    left = [keysLeftover(redactedReason(error, endpoints.target.password))];
  }
  if (left.length === 0) file.remove();
  return left;
}

function keysLeftover(reason: string): Leftover {
  return {
    side: 'target',
    database: '',
    object: 'the copied keys',
    statement: formatRedisCommand('FLUSHALL'),
    reason,
  };
}

async function flushTarget(session: RedisSession): Promise<void> {
  await session.send(['FLUSHALL', 'ASYNC']);
  if ((await listFunctionLibraries(session)).length > 0) await session.send(['FUNCTION', 'FLUSH']);
}

/** Names of the function libraries; empty for a server without functions. */
async function listFunctionLibraries(session: RedisSession): Promise<readonly string[]> {
  const reply = await session.send(['FUNCTION', 'LIST']).catch(() => []);
  return Array.isArray(reply) ? reply.flatMap((one) => (Array.isArray(one) ? [String(one[1])] : [])) : [];
}

async function withTargetSession<T>(
  server: RedisSource,
  work: (session: RedisSession) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await withRehearsalSession(server, work, signal);
  } catch (error) {
    throw new CliError('unreachable', `could not connect to the target: ${redactedReason(error, server.password)}`, {
      detail: `${server.host}:${server.port}`,
      hint: 'check the address in `--into` and the access rules of the target; nothing was changed',
    });
  }
}

async function withRehearsalSession<T>(
  server: RedisSource,
  work: (session: RedisSession) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const session = await connectRedis(server, { limit: defaultEngineLimits.connectTimeout, signal });
  try {
    return await work(session);
  } finally {
    session.end();
  }
}

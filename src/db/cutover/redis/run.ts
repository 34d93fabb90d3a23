import { CliError, usageError } from '../../../base/errors.ts';
import type { RedisConnection } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { parseKeyspace, type RedisInfo, readRedisInfoNumber } from '../../../redis/info.ts';
import { formatRedisCommand } from '../../../redis/quote.ts';
import { parseRedisServerVersion } from '../../../redis/version.ts';
import { cleanUpFromJournal, startRun } from '../../engine/engine.ts';
import { redactReason } from '../../engine/error.ts';
import { defaultLimits, type EngineSystem, engineSystem } from '../../engine/input.ts';
import { isReplicaOf, readServerInfo } from '../../engine/redis/replica.ts';

import { waitForRehearsalCatchUp } from '../catch-up.ts';
import { canTableBecomeEqual, compareRowCounts } from '../compare-row-counts.ts';
import { createRehearsalJournal, type RehearsalEndpoints } from '../postgresql/clean-up.ts';
import type { RehearsalRecordFile } from '../rehearsal-record.ts';
import type { DatabaseRehearsalResult, RehearsalLeftover, TableComparison } from '../rehearsal-report.ts';
import type { RehearsalRunParams, RehearsalRunResult } from '../run-params.ts';
import { rehearsalTargetInputNames, targetLoginHint } from '../target-login-hint.ts';
import { compareRedisDatabaseKeys } from './compare-redis-database-keys.ts';
import { canReadRedisExpiryTimes } from './redis-key-content.ts';
import { withRehearsalSession } from './rehearsal-session.ts';

export interface RedisRehearsalParams extends RehearsalRunParams {
  readonly endpoints: RehearsalEndpoints<RedisEndpoint>;
  readonly file: RehearsalRecordFile;
}

/** Reads the target of the rehearsal. Throws a CliError if it is not empty, is a replica, or cannot be reached. */
export async function inspectRedisRehearsalTarget(
  { source, target }: RehearsalEndpoints<RedisEndpoint>,
  signal: AbortSignal,
): Promise<{ readonly version: string }> {
  const look = async (session: RedisConnection) => ({
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
  const version = parseRedisServerVersion(there.info);
  return { version: version === undefined ? 'unknown' : `${version.product}-${version.version}` };
}

export function createRedisRehearsalDeps(
  { clock, random }: Pick<RehearsalRunParams, 'clock' | 'random'>,
  file: RehearsalRecordFile,
  endpoints: RehearsalEndpoints<RedisEndpoint>,
): EngineSystem {
  return engineSystem({
    now: () => clock.now(),
    random,
    journal: createRehearsalJournal(file, endpoints),
    schemaCopy: () => Promise.reject(new Error('Redis has no schema')),
    limits: { ...defaultLimits, pollInterval: 500 },
  });
}

export async function runRedisRehearsal(params: RedisRehearsalParams): Promise<RehearsalRunResult> {
  const { endpoints, file, signal, clock, stallTimeout, maxRounds } = params;
  const ports = createRedisRehearsalDeps(params, file, endpoints);
  const order = { id: file.current().id, deadline: Number.POSITIVE_INFINITY, finishWhenIdle: false };
  const migration = startRun({ engine: 'redis', ...order, ...endpoints }, ports);
  try {
    const { onState } = params;
    const arrival = await waitForRehearsalCatchUp(migration, { clock, signal, poll: 250, stallTimeout, onState });
    const tables =
      arrival.kind === 'arrived' ? await compareDatabaseKeys(endpoints, { maxRounds, clock, signal }) : new Map();
    params.onCompared();
    const last = migration.state();
    await migration.stop('stopped_by_user');
    const stuck = arrival.kind === 'stuck' ? ['the target does not replicate the source; its log has the reason'] : [];
    const names = new Set([...last.databases.map(({ name }) => name), ...tables.keys()]);
    const databases = [...names].map((name): DatabaseRehearsalResult => {
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
async function compareDatabaseKeys(
  { source, target }: RehearsalEndpoints<RedisEndpoint>,
  { maxRounds, clock, signal }: Pick<RehearsalRunParams, 'maxRounds' | 'clock' | 'signal'>,
): Promise<ReadonlyMap<string, TableComparison>> {
  let found: readonly TableComparison[] = [];
  for (let attempt = 0; attempt < maxRounds; attempt++) {
    if (attempt > 0) await clock.sleep(Math.min(1000, 100 * 2 ** attempt), signal);
    const before = await withRehearsalSession(source, readServerInfo);
    const end = readRedisInfoNumber(before, 'master_repl_offset') ?? 0;
    const there = await withRehearsalSession(target, async (session) => {
      for (const limit = performance.now() + 10_000; performance.now() < limit; ) {
        const info = await readServerInfo(session);
        if ((readRedisInfoNumber(info, 'slave_repl_offset') ?? 0) >= end) return info;
        await clock.sleep(100, signal);
      }
      return readServerInfo(session);
    });
    const after = await withRehearsalSession(source, readServerInfo);
    found = compareRowCounts({ before: keyCounts(before), target: keyCounts(there), after: keyCounts(after) });
    if (!found.some(canTableBecomeEqual)) break;
  }
  const contents = await compareKeyContents({ source, target }, found, { clock, signal });
  return new Map(found.map((one) => [one.name, { ...(contents.get(one.name) ?? one), name: 'keys' }]));
}

/** If a database has equally many keys on both servers, compares all its keys. */
async function compareKeyContents(
  { source, target }: RehearsalEndpoints<RedisEndpoint>,
  counts: readonly TableComparison[],
  { clock, signal }: Pick<RehearsalRunParams, 'clock' | 'signal'>,
): Promise<ReadonlyMap<string, TableComparison>> {
  const contents = new Map<string, TableComparison>();
  await withRehearsalSession(
    source,
    (from) =>
      withRehearsalSession(
        target,
        async (to) => {
          const hasExpiryTimes = (await canReadRedisExpiryTimes(from)) && (await canReadRedisExpiryTimes(to));
          const options = { source: from, target: to, hasExpiryTimes, maxRounds: 3, clock, signal };
          for (const { name } of counts.filter(({ state }) => state === 'equal'))
            contents.set(name, await compareRedisDatabaseKeys({ index: Number(name.replace('db', '')), ...options }));
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
export async function cleanUpRedisRehearsal(
  file: RehearsalRecordFile,
  endpoints: RehearsalEndpoints<RedisEndpoint>,
  ports: EngineSystem,
  { keep, isLate }: { readonly keep: boolean; readonly isLate: boolean },
): Promise<readonly RehearsalLeftover[]> {
  const isFilled = file.current().filled.length > 0 && !keep;
  let left: RehearsalLeftover[] = [];
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
    left = [keysLeftover(redactReason(error, endpoints.target.password))];
  }
  if (left.length === 0) file.remove();
  return left;
}

function keysLeftover(reason: string): RehearsalLeftover {
  return {
    side: 'target',
    database: '',
    object: 'the copied keys',
    statement: formatRedisCommand('FLUSHALL'),
    reason,
  };
}

async function flushTarget(session: RedisConnection): Promise<void> {
  await session.send(['FLUSHALL', 'ASYNC']);
  if ((await listFunctionLibraries(session)).length > 0) await session.send(['FUNCTION', 'FLUSH']);
}

/** Names of the function libraries; empty for a server without functions. */
async function listFunctionLibraries(session: RedisConnection): Promise<readonly string[]> {
  const reply = await session.send(['FUNCTION', 'LIST']).catch(() => []);
  return Array.isArray(reply) ? reply.flatMap((one) => (Array.isArray(one) ? [String(one[1])] : [])) : [];
}

async function withTargetSession<T>(
  server: RedisEndpoint,
  work: (session: RedisConnection) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await withRehearsalSession(server, work, signal);
  } catch (error) {
    throw new CliError('unreachable', `could not connect to the target: ${redactReason(error, server.password)}`, {
      detail: `${server.host}:${server.port}`,
      hint: `${targetLoginHint(error, rehearsalTargetInputNames)}; nothing was changed`,
    });
  }
}

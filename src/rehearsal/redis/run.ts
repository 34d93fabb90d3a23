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
import { compareCounts, isUnsettled } from '../compare-counts.ts';
import { createRecordJournal, type RehearsalEndpoints } from '../postgresql/clean-up.ts';
import type { RehearsalRecordFile } from '../rehearsal-record.ts';
import type { DatabaseRehearsal, Leftover, TableCount } from '../rehearsal-report.ts';
import type { RehearsalRunParams, RehearsalRunResult } from '../run-params.ts';

export interface RedisRunParams extends RehearsalRunParams {
  readonly endpoints: RehearsalEndpoints<RedisSource>;
  readonly file: RehearsalRecordFile;
}

/** The target before anything was done to it; throws a CliError when it must not be filled. */
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
  // A source that cannot be entered is the preflight's to tell.
  const from = await withRehearsalSession(source, readServerInfo, signal).catch(() => undefined);
  if (from !== undefined && run !== undefined && from.get('run_id') === run) {
    throw usageError('source and target are the same server', 'name a server of its own with --into');
  }
  const keys = parseKeyspace(there.info).map(({ index, keys: count }) => `database ${index} holds ${count} keys`);
  const held = [
    ...keys,
    ...there.functions.map((name) => `function library ${name}`),
    ...(there.info.get('role') === 'slave' ? [`it is a replica of ${there.info.get('master_host')}`] : []),
  ];
  if (held.length > 0) {
    throw new CliError('preflight_blocked', 'the target is not empty: following a source loses what it holds', {
      detail: held.join('\n'),
      hint: 'name an empty server with --into; nothing was touched',
    });
  }
  const version = parseServerVersion(there.info);
  return { version: version === undefined ? 'unknown' : `${version.product}-${version.version}` };
}

export function createRedisPorts(
  { clock, random }: Pick<RehearsalRunParams, 'clock' | 'random'>,
  file: RehearsalRecordFile,
  doors: RehearsalEndpoints<RedisSource>,
): EngineDependencies {
  return createEngineDependencies({
    now: () => clock.now(),
    random,
    journal: createRecordJournal(file, doors),
    schemaCopy: () => Promise.reject(new Error('Redis has no schema')),
    limits: { ...defaultEngineLimits, pollInterval: 500 },
  });
}

export async function runRedisRehearsal(course: RedisRunParams): Promise<RehearsalRunResult> {
  const { endpoints: doors, file, signal, clock, stallTimeout: patience, maxRounds: tries } = course;
  const ports = createRedisPorts(course, file, doors);
  const order = { id: file.current().id, deadline: Number.POSITIVE_INFINITY, finishWhenIdle: false };
  const migration = startMigrationJob({ engine: 'redis', ...order, ...doors }, ports);
  try {
    const arrival = await waitForCatchUp(migration, {
      clock,
      signal,
      poll: 250,
      stallTimeout: patience,
      onState: course.onState,
    });
    const tables =
      arrival.kind === 'arrived' ? await compareKeys(doors, { maxRounds: tries, clock, signal }) : new Map();
    course.onCompared();
    const last = migration.state();
    await migration.stop('stopped_by_user');
    const stuck = arrival.kind === 'stuck' ? ['the target does not follow the source; its log says why'] : [];
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

/** Keys of each database on both sides, at a moment when the stream of the source has arrived. */
async function compareKeys(
  { source, target }: RehearsalEndpoints<RedisSource>,
  { maxRounds: tries, clock, signal }: Pick<RehearsalRunParams, 'maxRounds' | 'clock' | 'signal'>,
): Promise<ReadonlyMap<string, TableCount>> {
  let found: readonly TableCount[] = [];
  for (let attempt = 0; attempt < tries; attempt++) {
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
    if (!found.some(isUnsettled)) break;
  }
  return new Map(found.map((one) => [one.name, { ...one, name: 'keys' }]));
}

function keyCounts(info: RedisInfo): ReadonlyMap<string, number> {
  return new Map(parseKeyspace(info).map(({ index, keys }) => [`db${index}`, keys]));
}

/**
 * Ends the following and empties the target, which was empty.
 * @param isLate of a rehearsal that was cut off: what is there is only dropped while it still follows our source
 */
export async function cleanUpRedis(
  file: RehearsalRecordFile,
  doors: RehearsalEndpoints<RedisSource>,
  ports: EngineDependencies,
  { keep, isLate }: { readonly keep: boolean; readonly isLate: boolean },
): Promise<readonly Leftover[]> {
  const isFilled = file.current().filled.length > 0 && !keep;
  let left: Leftover[] = [];
  try {
    const isOurs =
      !isLate ||
      (await withRehearsalSession(doors.target, async (one) => isReplicaOf(await readServerInfo(one), doors.source)));
    left = [...(await cleanUpFromJournal(ports))];
    if (isFilled && isOurs && left.length === 0) await withRehearsalSession(doors.target, flushTarget);
    // Somebody has detached it since, or the end was near: the keys may be theirs by now.
    else if (isFilled && left.length === 0)
      left = [keysLeftover('it follows the source no more, so they may be somebody else’s')];
    if (isLate && left.length === 1 && !isOurs) file.remove();
  } catch (error) {
    left = [keysLeftover(redactedReason(error, doors.target.password))];
  }
  if (left.length === 0) file.remove();
  return left;
}

function keysLeftover(reason: string): Leftover {
  return {
    side: 'target',
    database: '',
    object: 'the keys that were copied',
    statement: formatRedisCommand('FLUSHALL'),
    reason,
  };
}

async function flushTarget(session: RedisSession): Promise<void> {
  await session.send(['FLUSHALL', 'ASYNC']);
  if ((await listFunctionLibraries(session)).length > 0) await session.send(['FUNCTION', 'FLUSH']);
}

/** None, where the server knows no functions. */
async function listFunctionLibraries(session: RedisSession): Promise<readonly string[]> {
  const reply = await session.send(['FUNCTION', 'LIST']).catch(() => []);
  return Array.isArray(reply) ? reply.flatMap((one) => (Array.isArray(one) ? [String(one[1])] : [])) : [];
}

async function withTargetSession<T>(
  door: RedisSource,
  work: (session: RedisSession) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await withRehearsalSession(door, work, signal);
  } catch (error) {
    throw new CliError('unreachable', `could not enter the target: ${redactedReason(error, door.password)}`, {
      detail: `${door.host}:${door.port}`,
      hint: 'put right what --into says, or the target; nothing was touched',
    });
  }
}

async function withRehearsalSession<T>(
  door: RedisSource,
  work: (session: RedisSession) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const session = await connectRedis(door, { limit: defaultEngineLimits.connectTimeout, signal });
  try {
    return await work(session);
  } finally {
    session.end();
  }
}

import { CliError, usageError } from '../../../base/errors.ts';
import { countOf } from '../../../base/text.ts';
import { connectRedis, type RedisConnection } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { parseKeyspace } from '../../../redis/info.ts';
import { formatCommand } from '../../../redis/quote.ts';
import { parseServerVersion } from '../../../redis/version.ts';
import { cleanUpFromJournal, defaultLimits, type EngineSystem, engineSystem, startRun } from '../../engine/index.ts';
import { isReplicaOf, readServerInfo, redactReason } from '../../engine/tools.ts';
import { compareRedisDatabaseKeys, withComparedRedisServers } from '../redis/compare.ts';
import { rehearsalInputs, targetLoginHint } from '../target.ts';
import { waitForCatchUp } from './catch-up.ts';
import { type RehearsalEndpoints, rehearsalJournal } from './clean-up.ts';
import type { RecordFile } from './record.ts';
import type {
  RehearsalLeftover,
  RehearsalParams,
  RehearsalResult,
  RehearsedDatabase,
  TableComparison,
} from './report.ts';

interface RedisRehearsalParams extends RehearsalParams {
  readonly endpoints: RehearsalEndpoints<RedisEndpoint>;
  readonly file: RecordFile;
}

/** Reads the target of the rehearsal. Throws a CliError if it is not empty, is a replica, or cannot be reached. */
export async function inspectRedisTarget(
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
  const keys = parseKeyspace(there.info).map(
    ({ index, keys: count }) => `database ${index} has ${countOf(count, 'key')}`,
  );
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

export function redisSystem(
  { clock, random }: Pick<RehearsalParams, 'clock' | 'random'>,
  file: RecordFile,
  endpoints: RehearsalEndpoints<RedisEndpoint>,
): EngineSystem {
  return engineSystem({
    now: () => clock.now(),
    random,
    journal: rehearsalJournal(file, endpoints),
    schemaCopy: () => Promise.reject(new Error('Redis has no schema')),
    limits: { ...defaultLimits, pollInterval: 500 },
  });
}

export async function rehearseRedis(params: RedisRehearsalParams): Promise<RehearsalResult> {
  const { endpoints, file, signal, clock, stallTimeout } = params;
  const ports = redisSystem(params, file, endpoints);
  const order = { id: file.current().id, deadline: Number.POSITIVE_INFINITY, finishWhenIdle: false };
  const migration = startRun({ engine: 'redis', ...order, ...endpoints }, ports);
  try {
    const { onWait } = params;
    const arrival = await waitForCatchUp(migration, { clock, signal, poll: 250, stallTimeout, onWait });
    const tables = arrival.kind === 'arrived' ? await compareDatabaseKeys(endpoints, params) : new Map();
    params.onCompared();
    const last = migration.state();
    await migration.stop('stopped_by_user');
    const stuck = arrival.kind === 'stuck' ? ['the target does not replicate the source; its log has the reason'] : [];
    const names = new Set([...last.databases.map(({ name }) => name), ...tables.keys()]);
    const databases = [...names].map((name): RehearsedDatabase => {
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
    const early =
      arrival.kind === 'over' && reason.length === 0 ? ['the replication ended before the keys were compared'] : [];
    return { databases, errors: [...reason, ...stuck, ...early], warnings: last.warnings };
  } finally {
    await migration.stop('interrupted');
  }
}

/** Compares the keys of every database, while applications may write to the source. */
async function compareDatabaseKeys(
  endpoints: RehearsalEndpoints<RedisEndpoint>,
  { maxRounds, clock, signal, onWait }: Pick<RehearsalParams, 'maxRounds' | 'clock' | 'signal' | 'onWait'>,
): Promise<ReadonlyMap<string, TableComparison>> {
  return withComparedRedisServers(endpoints, signal, async (servers) => {
    const infos = await Promise.all([servers.source, servers.target].map(({ session }) => readServerInfo(session)));
    const indexes = new Set(infos.flatMap((info) => parseKeyspace(info).map(({ index }) => index)));
    const found = new Map<string, TableComparison>();
    for (const index of [...indexes].sort((a, b) => a - b)) {
      onWait({
        key: `comparing db${index}`,
        state: `comparing the keys of db${index} on both servers`,
        ends: `ends when they are equal; a key that is written to meanwhile is read again, at most ${maxRounds} times`,
        isCopied: true,
      });
      const limits = { maxRounds, clock, signal };
      const options = { ...servers, ...limits, index, catchUpTimeout: 10_000, mayBeWritten: true };
      found.set(`db${index}`, await compareRedisDatabaseKeys(options));
    }
    return found;
  });
}

/**
 * Ends the replication and deletes all keys of the target, which was empty before.
 * @param isLate whether the rehearsal was interrupted: keys are then deleted only while the target still replicates the
 * source
 */
export async function cleanUpRedis(
  file: RecordFile,
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
    statement: formatCommand('FLUSHALL'),
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
      hint: `${targetLoginHint(error, rehearsalInputs)}; nothing was changed`,
    });
  }
}

/** Runs a task in a new session and closes it in any case. */
async function withRehearsalSession<T>(
  server: RedisEndpoint,
  work: (session: RedisConnection) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const session = await connectRedis(server, { limit: defaultLimits.connectTimeout, signal });
  try {
    return await work(session);
  } finally {
    session.end();
  }
}

/** The identity of the running server; undefined if it cannot be read, which a later step reports. */
export async function readRedisRunId(target: RedisEndpoint, signal: AbortSignal): Promise<string | undefined> {
  const info = await withRehearsalSession(target, readServerInfo, signal).catch(() => undefined);
  return info?.get('run_id');
}

import { cleanUp } from '../../engine/clean-up.ts';
import { type EnginePorts, usualWaits } from '../../engine/job.ts';
import { startMigration } from '../../engine/migration.ts';
import { machinePorts } from '../../engine/ports.ts';
import { follows, infoOf } from '../../engine/redis/target.ts';
import { reasonOf } from '../../engine/words.ts';
import { CliError, usage } from '../../errors.ts';
import { connect, type RedisSession } from '../../redis/connection.ts';
import { type Info, keyspaceOf, numberIn } from '../../redis/info.ts';
import { commandLine } from '../../redis/quote.ts';
import type { RedisSource } from '../../redis/source.ts';
import { serverVersion } from '../../redis/version.ts';
import { isOpen, judgeRound } from '../../rehearsal/compare.ts';
import type { RecordFile } from '../../rehearsal/record.ts';
import type { DatabaseRehearsal, Left, TableCount } from '../../rehearsal/report.ts';
import { arrivalOf } from './rehearse-arrival.ts';
import { type Doors, journalOn } from './rehearse-clean.ts';
import type { Course, Played } from './rehearse-course.ts';

export interface RedisCourse extends Course {
  readonly doors: Doors<RedisSource>;
  readonly file: RecordFile;
}

/** The target before anything was done to it; throws a CliError when it must not be filled. */
export async function surveyRedis(
  { source, target }: Doors<RedisSource>,
  signal: AbortSignal,
): Promise<{ readonly version: string }> {
  const look = async (session: RedisSession) => ({
    info: await infoOf(session),
    functions: await functionsOf(session),
  });
  const there = await entered(target, look, signal);
  const run = there.info.get('run_id');
  // A source that cannot be entered is the preflight's to tell.
  const from = await within(source, infoOf, signal).catch(() => undefined);
  if (from !== undefined && run !== undefined && from.get('run_id') === run) {
    throw usage('source and target are the same server', 'name a server of its own with --into');
  }
  const keys = keyspaceOf(there.info).map(({ index, keys: count }) => `database ${index} holds ${count} keys`);
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
  const version = serverVersion(there.info);
  return { version: version === undefined ? 'unknown' : `${version.flavor}-${version.version}` };
}

export function redisPorts(
  { clock, random }: Pick<Course, 'clock' | 'random'>,
  file: RecordFile,
  doors: Doors<RedisSource>,
): EnginePorts {
  return machinePorts({
    now: () => clock.now(),
    random,
    journal: journalOn(file, doors),
    schemaCopy: () => Promise.reject(new Error('Redis has no schema')),
    waits: { ...usualWaits, poll: 500 },
  });
}

export async function playRedis(course: RedisCourse): Promise<Played> {
  const { doors, file, signal, clock, patience, tries } = course;
  const ports = redisPorts(course, file, doors);
  const order = { id: file.current().id, deadline: Number.POSITIVE_INFINITY, finishWhenIdle: false };
  const migration = startMigration({ engine: 'redis', ...order, ...doors }, ports);
  try {
    const arrival = await arrivalOf(migration, { clock, signal, poll: 250, patience, onState: course.onState });
    const tables = arrival.kind === 'arrived' ? await compareKeys(doors, { tries, clock, signal }) : new Map();
    course.onSettled();
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
  { source, target }: Doors<RedisSource>,
  { tries, clock, signal }: Pick<Course, 'tries' | 'clock' | 'signal'>,
): Promise<ReadonlyMap<string, TableCount>> {
  let found: readonly TableCount[] = [];
  for (let attempt = 0; attempt < tries; attempt++) {
    if (attempt > 0) await clock.sleep(Math.min(1000, 100 * 2 ** attempt), signal);
    const before = await within(source, infoOf);
    const end = numberIn(before, 'master_repl_offset') ?? 0;
    const there = await within(target, async (session) => {
      for (const limit = performance.now() + 10_000; performance.now() < limit; ) {
        const info = await infoOf(session);
        if ((numberIn(info, 'slave_repl_offset') ?? 0) >= end) return info;
        await clock.sleep(100, signal);
      }
      return infoOf(session);
    });
    const after = await within(source, infoOf);
    found = judgeRound({ before: counts(before), target: counts(there), after: counts(after) });
    if (!found.some(isOpen)) break;
  }
  return new Map(found.map((one) => [one.name, { ...one, name: 'keys' }]));
}

function counts(info: Info): ReadonlyMap<string, number> {
  return new Map(keyspaceOf(info).map(({ index, keys }) => [`db${index}`, keys]));
}

/**
 * Ends the following and empties the target, which was empty.
 * @param isLate of a rehearsal that was cut off: what is there is only dropped while it still follows our source
 */
export async function cleanRedis(
  file: RecordFile,
  doors: Doors<RedisSource>,
  ports: EnginePorts,
  { keep, isLate }: { readonly keep: boolean; readonly isLate: boolean },
): Promise<readonly Left[]> {
  const isFilled = file.current().filled.length > 0 && !keep;
  let left: Left[] = [];
  try {
    const isOurs = !isLate || (await within(doors.target, async (one) => follows(await infoOf(one), doors.source)));
    left = [...(await cleanUp(ports))];
    if (isFilled && isOurs && left.length === 0) await within(doors.target, empty);
    // Somebody has detached it since, or the end was near: the keys may be theirs by now.
    else if (isFilled && left.length === 0)
      left = [flushAll('it follows the source no more, so they may be somebody else’s')];
    if (isLate && left.length === 1 && !isOurs) file.remove();
  } catch (error) {
    left = [flushAll(reasonOf(error, doors.target.password))];
  }
  if (left.length === 0) file.remove();
  return left;
}

function flushAll(reason: string): Left {
  return {
    side: 'target',
    database: '',
    object: 'the keys that were copied',
    statement: commandLine('FLUSHALL'),
    reason,
  };
}

async function empty(session: RedisSession): Promise<void> {
  await session.send(['FLUSHALL', 'ASYNC']);
  if ((await functionsOf(session)).length > 0) await session.send(['FUNCTION', 'FLUSH']);
}

/** None, where the server knows no functions. */
async function functionsOf(session: RedisSession): Promise<readonly string[]> {
  const reply = await session.send(['FUNCTION', 'LIST']).catch(() => []);
  return Array.isArray(reply) ? reply.flatMap((one) => (Array.isArray(one) ? [String(one[1])] : [])) : [];
}

async function entered<T>(
  door: RedisSource,
  work: (session: RedisSession) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await within(door, work, signal);
  } catch (error) {
    throw new CliError('unreachable', `could not enter the target: ${reasonOf(error, door.password)}`, {
      detail: `${door.host}:${door.port}`,
      hint: 'put right what --into says, or the target; nothing was touched',
    });
  }
}

async function within<T>(
  door: RedisSource,
  work: (session: RedisSession) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const session = await connect(door, { limit: usualWaits.connect, signal });
  try {
    return await work(session);
  } finally {
    session.end();
  }
}

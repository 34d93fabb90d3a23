import type { ApiClient } from '../../api/client.ts';
import {
  describeMigration,
  type FetchedMigration,
  fetchMigration,
  isMigrationActive,
  isMigrationStopping,
  listActiveDatabases,
  listFailures,
  listWarnings,
  type Migration,
} from '../../api/online-migration.ts';
import { CliError } from '../../base/errors.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import { formatBytes, quoteShellArg } from '../../base/text.ts';
import type { Clock } from '../../platform/host.ts';
import { ConnectError, clientErrorCodes } from '../../platform/network-errors.ts';
import { connectPostgresql } from '../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import { QueryError } from '../../postgresql/query-error.ts';
import { CommandError } from '../../redis/command-error.ts';
import { connectRedis, type RedisConnection } from '../../redis/connection.ts';
import { infoNumber, type RedisInfo } from '../../redis/info.ts';
import { readServerInfo, redactReason } from '../engine/tools.ts';
import { type DbSource, unreachableHint } from '../source/index.ts';
import {
  confirmIdentity,
  findLostKeys,
  formatIdentity,
  type PollResult,
  pollSource,
  readServiceWord,
  type ServiceWord,
  silentService,
  type TargetWord,
} from '../watch/index.ts';
import type { WatchRecord } from '../watch/record.ts';
import { countWrites, readActivity } from './activity.ts';
import { type CutoverFacts, cutoverChecklist, firstOpenLine, hasMigrationFailed, isSourceIdle } from './checklist.ts';
import { compareDatabases } from './compare.ts';
import { withoutLargeObjects } from './comparison.ts';
import { findCopies, listLeftOut } from './left-out.ts';
import type { Pair, PairOptions, Sighting } from './pair.ts';
import { compareAccess } from './postgresql/access-script.ts';
import { accessSections } from './postgresql/access-statements.ts';
import { openPostgresqlPair } from './postgresql/pair.ts';
import { findSequenceDifferences } from './postgresql/sequences.ts';
import { queryCatalogRows } from './postgresql/tables.ts';
import { listUnlogged } from './postgresql/unlogged.ts';
import { openRedisPair } from './redis/pair.ts';
import { findKeptRoles, findSourceRemains, marksOfMigration } from './remains.ts';
import { targetInputs, targetLoginHint } from './target.ts';

/** Which migration is switched over. */
export interface Cutover {
  readonly cluster: string;
  readonly source: DbSource;
  readonly target: DbSource;
  readonly ignoreDbs: readonly string[];
  /** Slots of the migration that the user named. */
  readonly slots: readonly string[];
  /** What earlier commands recorded of a migration of this source. */
  readonly record: WatchRecord | undefined;
  /** Tables that the user accepts without a comparison. */
  readonly acceptedTables: readonly string[];
  readonly clock: Clock;
}

interface CheckCutoverOptions extends Cutover {
  /** Lines of the checklist that the user has checked. */
  readonly accepted: readonly string[];
  readonly signal: AbortSignal;
  /** Called before each check of the cut-over. */
  readonly onCheck: (what: string) => void;
}

/** The maximum milliseconds to wait until nothing is left to replicate. */
const watchLimit = 20_000;

/**
 * Finds out what is left to do before a cut-over. The function only reads both servers, and changes nothing at the
 * service. A check that depends on earlier checks is not run while one of them is not done.
 * @throws CliError `source_unreachable`, or the error of the resource API for a session that cannot be used
 */
export async function checkCutover(api: ApiClient, options: CheckCutoverOptions): Promise<CutoverFacts> {
  const { migration, shown } = await readMigrationFact(api, options);
  const facts = await checkServers(options, migration, shown);
  const leftOut = listLeftOut(typeof shown === 'object' ? shown : undefined, options.ignoreDbs);
  const all = { ...facts, leftOut: await findCopies(leftOut, options.target, options.signal) };
  // Until then the roles of the migration own everything.
  const isLeft = firstOpenLine(cutoverChecklist({ ...all, accepted: options.accepted })) !== undefined;
  if (isLeft) return all;
  // A comparison takes long, and the target may have become full meanwhile.
  const obstacle = await readTargetObstacle(options.target, options.signal);
  if (obstacle !== undefined) return { ...all, ...obstacle };
  if (typeof shown !== 'object') return all;
  return { ...all, keptRoles: await findKeptRoles(options.target, shown.id, options.signal) };
}

async function checkServers(
  options: CheckCutoverOptions,
  migration: CutoverFacts['migration'],
  shown: Migration | 'none' | undefined,
): Promise<CutoverFacts> {
  const { source, target, clock, signal, ignoreDbs, onCheck } = options;
  const { engine } = source;
  const hasEnded = typeof migration !== 'string' && migration.hasEnded;
  onCheck('logging in to the target');
  const targetFailure = await readTargetFailure(options);
  if (targetFailure !== undefined) return { engine, migration, ...targetFailure };
  const obstacle = await readTargetObstacle(target, signal);
  if (obstacle !== undefined) return { engine, migration, ...obstacle };
  // Nothing is checked that would make the user stop the application for a migration that cannot be finished.
  if (hasMigrationFailed({ migration })) return { engine, migration };
  const access = await readAccessFact(options);
  const unlogged = await readUnlogged(options);
  const clean = hasEnded ? await readCleanFact(options, shown) : undefined;
  const early = { unlogged, ...(access === undefined ? {} : { access }), ...(clean === undefined ? {} : { clean }) };
  onCheck('observing writes to the source and the lag of the target');
  let startedAt = clock.now();
  let before = await readSourceActivity(options);
  const { lag, sessions, runKeys } = await observeDelivery(options, shown, hasEnded);
  let after = await readSourceActivity(options);
  if (hasEnded && countWrites(before, after) > 0) {
    // When a migration ends, its slots and publications are removed, which are writes as well.
    startedAt = clock.now();
    before = after;
    await clock.sleep(minimumWatch, signal);
    after = await readSourceActivity(options);
  }
  const seconds = Math.round((clock.now() - startedAt) / 1000);
  const writes = { count: countWrites(before, after), open: after.open, sessions, seconds };
  const lostKeys = findLostKeys(recordOf(options)?.runKeys, runKeys);
  const facts: CutoverFacts = { engine, migration, writes, lag, lostKeys, ...early };
  if (!isSourceIdle(facts) || !(lag.isIdle || hasEnded)) return facts;
  const sequences = await readSequenceFact(options);
  const areEqual = sequences === undefined || (typeof sequences !== 'string' && sequences.differences.length === 0);
  if (!areEqual) return { ...facts, sequences };
  const named = sequences === undefined ? {} : { sequences };
  onCheck('comparing the contents');
  const onProgress = ({ database, done, total }: { database: string; done: number; total: number }): void =>
    onCheck(`comparing ${database} (${done + 1} of ${total})`);
  const contents = await orReason(options, () =>
    compareDatabases({
      ...{ source, target, ignoreDbs, clock, signal, onProgress },
      accepted: options.acceptedTables,
    }),
  );
  const compared = typeof contents === 'string' || hasEnded ? contents : withoutLargeObjects(contents);
  const last = await readSourceActivity(options);
  const count = writes.count + countWrites(after, last);
  const observed = { count, open: last.open, sessions, seconds: Math.round((clock.now() - startedAt) / 1000) };
  // Rows that were compared before a later write prove nothing about the rows that were written.
  return { ...facts, ...named, contents: compared, writes: observed };
}

const minimumWatch = 3000;

async function readMigrationFact(
  api: ApiClient,
  { cluster, ignoreDbs }: CheckCutoverOptions,
): Promise<{ readonly migration: CutoverFacts['migration']; readonly shown: Migration | 'none' | undefined }> {
  try {
    const shown = await fetchMigration(api, cluster);
    if (shown === undefined) return { migration: 'the service shows no migration into this cluster', shown: 'none' };
    return { migration: describeMigrationFact(shown, ignoreDbs), shown };
  } catch (error) {
    // Without a session no step of the checklist can be done.
    if (error instanceof CliError && error.exitCode !== 4) return { migration: error.message, shown: undefined };
    throw error;
  }
}

export function describeMigrationFact(
  shown: FetchedMigration,
  ignoreDbs: readonly string[],
): Exclude<CutoverFacts['migration'], string> {
  const isStopping = isMigrationStopping(shown);
  const active = isStopping ? `, stopping: ${listActiveDatabases(shown).slice(0, 3).join(', ') || 'not ended'}` : '';
  return {
    hasEnded: !isMigrationActive(shown),
    isStopping,
    failures: listFailures(shown, ignoreDbs),
    description: `${describeMigration(shown)}${active}`,
    warnings: listWarnings(shown),
  };
}

/**
 * Checks the connection to the target before all other checks, because those take longer and all of them would fail without
 * the password of the target.
 */
async function readTargetFailure({
  target,
  signal,
}: CheckCutoverOptions): Promise<
  Pick<CutoverFacts, 'targetFailure' | 'targetHint' | 'isTargetWithoutTls'> | undefined
> {
  try {
    await readActivity(target, signal);
    return undefined;
  } catch (error) {
    if (signal.aborted || !isServerError(error)) throw error;
    return {
      targetFailure: redactReason(error, target.source.password),
      targetHint: targetLoginHint(error, targetInputs),
      isTargetWithoutTls: error instanceof ConnectError && error.code === clientErrorCodes.noTls,
    };
  }
}

type TargetObstacle = Required<Pick<CutoverFacts, 'targetFailure' | 'targetHint' | 'isTargetRefusing'>>;

/**
 * What makes a Redis target refuse the writes of the application, or lose keys, after the switch. A replica takes the writes of its
 * primary in any case, and a primary that refuses all others is still equal to the source, so the comparison shows nothing of it.
 */
export async function readTargetObstacle(target: DbSource, signal: AbortSignal): Promise<TargetObstacle | undefined> {
  if (target.engine !== 'redis') return undefined;
  const session = await connectRedis(target.source, { limit, signal });
  try {
    const info = await readServerInfo(session);
    const [failure, hint] =
      findFullMemory(info) ??
      findLoading(info) ??
      (await findFailedSave(info, session)) ??
      (await findLackOfReplicas(info, session)) ??
      [];
    return failure === undefined || hint === undefined
      ? undefined
      : { targetFailure: failure, targetHint: hint, isTargetRefusing: true };
  } finally {
    session.end();
  }
}

type Obstacle = readonly [failure: string, hint: string];

/** A replica ignores its maxmemory. */
function findFullMemory(info: RedisInfo): Obstacle | undefined {
  const [max = 0, used = 0, free = 0] = (['maxmemory', 'used_memory', 'mem_not_counted_for_evict'] as const).map(
    (field) => infoNumber(info, field),
  );
  if (max === 0 || used - free <= max) return undefined;
  const end = info.get('maxmemory_policy') === 'noeviction' ? 'refuses writes' : 'evicts keys';
  const when = info.get('role') === 'slave' ? ' when it is no replica any more' : '';
  return [
    `it uses ${formatBytes(used - free)}, and its maxmemory is ${formatBytes(max)}: it ${end}${when}`,
    'raise maxmemory of the target, or choose a larger cluster',
  ];
}

function findLoading(info: RedisInfo): Obstacle | undefined {
  if (info.get('loading') !== '1' && info.get('async_loading') !== '1') return undefined;
  return ['it loads its data, and refuses commands until it has', 'wait until the target has loaded its data'];
}

async function findFailedSave(info: RedisInfo, session: RedisConnection): Promise<Obstacle | undefined> {
  const hint = 'free disk space and memory of the target: its log has the error';
  if (info.get('aof_last_write_status') === 'err')
    return ['it could not write its append-only file, and refuses writes (MISCONF)', hint];
  if (info.get('rdb_last_bgsave_status') !== 'err') return undefined;
  const [isStopping, points] = [
    await readSetting(session, 'stop-writes-on-bgsave-error'),
    await readSetting(session, 'save'),
  ];
  if (isStopping !== 'yes' || points === undefined || points === '') return undefined;
  return ['it could not save its data, and refuses writes (MISCONF)', hint];
}

/** INFO counts good replicas only where the server needs some. */
async function findLackOfReplicas(info: RedisInfo, session: RedisConnection): Promise<Obstacle | undefined> {
  const good = infoNumber(info, 'min_slaves_good_slaves');
  if (good === undefined) return undefined;
  const least = Number((await readSetting(session, 'min-replicas-to-write')) ?? 0);
  if (good >= least) return undefined;
  return [
    `it has ${good} good replicas, and refuses writes with fewer than ${least} (min-replicas-to-write)`,
    'connect replicas to the target, or lower min-replicas-to-write there',
  ];
}

/** Undefined for a setting that the user may not read. */
async function readSetting(session: RedisConnection, name: string): Promise<string | undefined> {
  try {
    const reply = await session.send(['CONFIG', 'GET', name]);
    return Array.isArray(reply) && typeof reply[1] === 'string' ? reply[1] : undefined;
  } catch (error) {
    if (!(error instanceof CommandError) || error.lost) throw error;
    return undefined;
  }
}

async function readCleanFact(
  options: CheckCutoverOptions,
  shown: Migration | 'none' | undefined,
): Promise<CutoverFacts['clean']> {
  const { source, target, ignoreDbs, clock, signal } = options;
  const id = typeof shown === 'object' ? shown.id : undefined;
  return orReason(options, async () => {
    const pair = await openPair(source, target, { ignoreDbs, signal });
    try {
      await pair.look();
      const remains = await findSourceRemains(source, marksOfMigration(options, id), { clock, signal, ignoreDbs });
      const left = [...new Set([...(await pair.leftovers()), ...remains.own])];
      const doubtful =
        remains.doubtful.length === 0 ? '' : `; not proven of ${remains.doubtful.slice(0, 3).join(', ')}`;
      return {
        left,
        observed: `${source.engine === 'redis' ? 'no replica' : 'no slot, publication or link'}${doubtful}`,
      };
    } finally {
      await pair.close();
    }
  });
}

async function readSourceActivity({ source, signal, ignoreDbs }: CheckCutoverOptions) {
  try {
    return await readActivity(source, signal);
  } catch (error) {
    if (signal.aborted || !isServerError(error)) throw error;
    const reason = redactReason(error, source.source.password);
    throw new CliError('source_unreachable', `could not connect to the source: ${reason}`, {
      hint: unreachableHint(source, error instanceof ConnectError ? error.code : undefined, {
        ignoreDbs,
      }),
    });
  }
}

/**
 * The target says itself what it has received: one confirmation of a position after the last write is a proof. A target that
 * shows no link to the source is watched from the source.
 */
async function observeDelivery(
  options: CheckCutoverOptions,
  shown: Migration | 'none' | undefined,
  hasEnded: boolean,
): Promise<Pick<Sighting, 'sessions' | 'runKeys'> & { readonly lag: NonNullable<CutoverFacts['lag']> }> {
  const { source, target, clock, signal, ignoreDbs, slots } = options;
  const startedAt = clock.now();
  const what = source.engine === 'redis' ? 'replication status' : 'subscription';
  const proof = formatIdentity({ grade: 'proven', by: `the ${what} of the target` });
  let pair: Pair | undefined;
  let sessions: readonly string[] = [];
  let runKeys: Sighting['runKeys'];
  try {
    pair = await openPair(source, target, { ignoreDbs, signal });
    for (;;) {
      const { delivery, ...seen } = await pair.look();
      sessions = seen.sessions;
      runKeys = seen.runKeys ?? runKeys;
      const elapsed = clock.now() - startedAt;
      const isReceived = delivery.state === 'received';
      // A Redis target that is no replica of the source has said so; others may hide their subscriptions.
      const isUnseen = delivery.state === 'unseen' && (source.engine === 'postgresql' || slots.length > 0);
      if (!hasEnded && isUnseen) return { lag: await watchUntilIdle(options, shown), sessions, runKeys };
      if (elapsed >= (isReceived || hasEnded ? minimumWatch : watchLimit)) {
        const lag = {
          isIdle: isReceived,
          observed: isReceived ? `${delivery.observed}; ${proof}` : delivery.observed,
          ...(delivery.isBroken === true ? { isBroken: true } : {}),
        };
        return { lag, sessions, runKeys };
      }
      await clock.sleep(300, signal);
    }
  } catch (error) {
    if (signal.aborted || !isServerError(error)) throw error;
    return { lag: await watchUntilIdle(options, shown), sessions, runKeys };
  } finally {
    await pair?.close();
  }
}

/** What is recorded of this migration, not of another one of the same source. */
export function recordOf({ record, cluster }: Pick<Cutover, 'record' | 'cluster'>): WatchRecord | undefined {
  return record?.started?.cluster === cluster ? record : undefined;
}

async function watchUntilIdle(
  options: CheckCutoverOptions,
  shown: Migration | 'none' | undefined,
): Promise<NonNullable<CutoverFacts['lag']>> {
  const { source, target, clock, signal, ignoreDbs, slots } = options;
  const record = recordOf(options);
  const wasConfirmed = record?.slots?.some(({ grade }) => grade === 'inferred') === true;
  const word = readServiceWord(record?.started?.id, shown, { ...silentService, confirmed: wasConfirmed }, ignoreDbs);
  const end = clock.now() + watchLimit;
  const unlessAborted = (error: unknown): undefined => {
    if (signal.aborted || !isServerError(error)) throw error;
    return undefined;
  };
  const asked =
    target.engine === 'postgresql' ? await readTargetWord(target.source, signal).catch(unlessAborted) : undefined;
  const watched = { clock, signal, ignoreDbs, slots, target: asked, ...(word.denied === undefined ? { record } : {}) };
  let last: PollResult | undefined;
  for await (const result of pollSource(source, 1000, { ...watched, record: watched.record })) {
    last = result;
    if (result.idlePolls > 0) return describeIdle(result, word);
    if (clock.now() >= end) break;
  }
  signal.throwIfAborted();
  const isBroken = last?.sample.phase === 'stalled' || last?.sample.phase === 'gone' || word.broken !== undefined;
  return {
    isIdle: false,
    observed: last === undefined ? 'the source was not read' : describePoll(last),
    ...(isBroken ? { isBroken } : {}),
  };
}

/** Nothing left to replicate is a fact about the migration only if its slots, or its replica, are known. */
function describeIdle({ sample }: PollResult, word: ServiceWord): NonNullable<CutoverFacts['lag']> {
  const observed = 'the source shows nothing left to replicate';
  const unsure = sample.databases.flatMap(({ name, slot, identified_by: own }) => {
    const identity = confirmIdentity(own, word, slot);
    return identity?.grade === 'assumed' ? [{ name, identity }] : [];
  });
  const [first] = unsure;
  if (first !== undefined) {
    const choice = (first.identity.candidates ?? []).map((one) => `--slot ${quoteShellArg(one)}`).join(' or ');
    return {
      isIdle: false,
      observed: `not proven for ${sanitizeLine(first.name, 80)}: ${[formatIdentity(first.identity), ...(word.denied === undefined ? [] : [word.denied])].join('; ')}; name it with ${choice}`,
    };
  }
  if (word.broken !== undefined && !word.ended) return { isIdle: false, observed: word.broken, isBroken: true };
  const identity = sample.identified_by === undefined ? '' : `; ${formatIdentity(sample.identified_by)}`;
  return { isIdle: true, observed: `${observed}${identity}` };
}

function describePoll({ ending, outage, sample }: PollResult): string {
  const [violation] = sample.violations;
  if (ending !== undefined) return ending.message;
  if (outage !== undefined) return outage;
  const { phase, percent, lag_bytes: behind } = sample;
  const progress =
    percent === undefined ? `phase ${phase}` : `phase ${phase}, ${percent} %, ${behind ?? 0} bytes behind`;
  return violation === undefined ? progress : `${progress}; ${violation.observed}`;
}

async function readSequenceFact(options: CheckCutoverOptions): Promise<CutoverFacts['sequences']> {
  const { source, target, ignoreDbs, signal, onCheck } = options;
  if (source.engine !== 'postgresql' || target.engine !== 'postgresql') return undefined;
  onCheck('comparing the sequences');
  return orReason(options, () => findSequenceDifferences(source.source, target.source, { ignoreDbs, signal }));
}

/** The unlogged tables whose rows the target lacks. A server that cannot be read is the subject of other lines. */
export async function readUnlogged({
  source,
  target,
  ignoreDbs,
  acceptedTables,
  signal,
}: Pick<CheckCutoverOptions, 'source' | 'target' | 'ignoreDbs' | 'acceptedTables' | 'signal'>): Promise<
  NonNullable<CutoverFacts['unlogged']>
> {
  if (source.engine !== 'postgresql' || target.engine !== 'postgresql') return [];
  const found = await listUnlogged(source.source, target.source, { ignoreDbs, signal });
  return found.map((one) => ({ ...one, isAccepted: acceptedTables.includes(`${one.database}:${one.name}`) }));
}

/** Everything of PostgreSQL that an application needs beside rows. */
async function readAccessFact(options: CheckCutoverOptions): Promise<CutoverFacts['access']> {
  const { source, target, ignoreDbs, signal, onCheck } = options;
  if (source.engine !== 'postgresql' || target.engine !== 'postgresql') return undefined;
  onCheck('comparing roles and privileges');
  const compared = { ignoreDbs, signal, sections: accessSections, allowSuperuserOwners: false };
  return orReason(options, () => compareAccess(source.source, target.source, compared));
}

/**
 * Returns the result of `work`. If a server cannot be read, returns the reason, and the step of the checklist counts as
 * unknown.
 */
async function orReason<T>(
  { source, target, signal }: CheckCutoverOptions,
  work: () => Promise<T>,
): Promise<T | string> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof CliError && error.code !== 'usage') return error.message;
    if (!isServerError(error)) throw error;
    return redactReason(error, source.source.password, target.source.password);
  }
}

export function isServerError(error: unknown): boolean {
  return [ConnectError, QueryError, CommandError].some((kind) => error instanceof kind);
}

/** Rejects with a ConnectError, a QueryError or a CommandError if a server cannot be read. */
export function openPair(source: DbSource, target: DbSource, options: PairOptions): Promise<Pair> {
  if (source.engine === 'postgresql' && target.engine === 'postgresql')
    return openPostgresqlPair(source.source, target.source, options);
  if (source.engine === 'redis' && target.engine === 'redis')
    return openRedisPair(source.source, target.source, options);
  throw new Error('source and target are of different engines');
}

const limit = 10_000;
const applicationName = 'cloudctl-cutover';

/** Reads which slots the enabled subscriptions of a target read. What its role may not read is left out. */
async function readTargetWord(target: PostgresqlEndpoint, signal: AbortSignal): Promise<TargetWord> {
  const session = await connectPostgresql(target, { dbname: target.dbname, limit, signal, applicationName });
  const rows = async (sql: string) => {
    try {
      return await queryCatalogRows(session, sql);
    } catch (error) {
      if (error instanceof QueryError && !error.lost) return [];
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

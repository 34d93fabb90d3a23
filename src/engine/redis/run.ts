import type { RedisSession } from '../../redis/connection.ts';
import { CommandError, ConnectError } from '../../redis/failure.ts';
import { type Info, keyspaceOf } from '../../redis/info.ts';
import type { RedisSource } from '../../redis/source.ts';
import { serverVersion } from '../../redis/version.ts';
import type { Board } from '../board.ts';
import { type Held, hold } from '../held.ts';
import type { EnginePorts, RedisJob } from '../job.ts';
import type { RedisEntry } from '../journal.ts';
import { newProgress } from '../state.ts';
import { MigrationError, reasonOf } from '../words.ts';
import { type Look, look } from './look.ts';
import { release } from './release.ts';
import { databasesOf, follow, infoOf, readSettings, settingsFor, writeSettings } from './target.ts';

/** The target becomes a replica of the source, with all its databases, until it is stopped. */
export async function runRedis(job: RedisJob, ports: EnginePorts, board: Board, stop: AbortSignal): Promise<void> {
  const source = holdRedis(job.source, ports, stop);
  const target = holdRedis(job.target, ports, stop);
  let entry: RedisEntry | undefined;
  let failure: string | undefined;
  try {
    const settings = await prepare(job, ports, stop);
    entry = { engine: 'redis', name: `redis ${job.id}`, source: job.source, target: job.target, settings };
    ports.journal.intend(entry);
    await begin(job, ports, stop);
    await watch({ source, target, job, ports, board, stop });
  } catch (error) {
    failure = reasonOf(error, job.source.password, job.target.password);
  }
  await Promise.all([source.end(), target.end()]);
  if (entry !== undefined) {
    const left = await release(entry, ports);
    board.leftovers.push(...left);
    if (left.length === 0) ports.journal.cleared(entry.name);
  }
  for (const progress of board.databases) {
    progress.phase = stop.aborted ? 'stopped' : failure === undefined ? 'done' : 'error';
  }
  if (failure !== undefined && !stop.aborted) throw new MigrationError(failure);
}

async function within<T>(
  door: RedisSource,
  ports: EnginePorts,
  signal: AbortSignal,
  work: (session: RedisSession) => Promise<T>,
): Promise<T> {
  const session = await ports.connectRedis(door, { limit: ports.waits.connect, signal });
  try {
    return await work(session);
  } finally {
    session.end();
  }
}

/** Nothing is changed yet. Returns the settings of the target that will be. */
async function prepare({ source, target }: RedisJob, ports: EnginePorts, signal: AbortSignal) {
  const from = await within(source, ports, signal, infoOf);
  return within(target, ports, signal, async (session) => {
    judge(from, await infoOf(session), await databasesOf(session));
    return readSettings(session);
  });
}

/** spec §4.6; and what a replica does first is to forget all it has. */
function judge(source: Info, target: Info, databases: number): void {
  if (source.get('run_id') !== undefined && source.get('run_id') === target.get('run_id')) {
    throw new MigrationError('source and target are the same server');
  }
  const [from, to] = [serverVersion(source), serverVersion(target)];
  if (from !== undefined && to !== undefined && isNewer(from.redis, to.redis)) {
    throw new MigrationError(`the source is ${from.flavor} ${from.version}, newer than the target's ${to.version}`);
  }
  const keys = keyspaceOf(target).reduce((sum, one) => sum + one.keys, 0);
  if (keys > 0)
    throw new MigrationError(`the target is not empty: it holds ${keys} keys, and following a source loses them`);
  const beyond = keyspaceOf(source).find(({ index }) => index >= databases);
  if (beyond !== undefined) {
    // A server that loads such a copy exits.
    throw new MigrationError(
      `the source holds keys in database ${beyond.index}, and the target has ${databases} (its setting databases)`,
    );
  }
}

function isNewer(one: string, other: string): boolean {
  const [[major = 0, minor = 0], [otherMajor = 0, otherMinor = 0]] = [numbers(one), numbers(other)];
  return major > otherMajor || (major === otherMajor && minor > otherMinor);
}

function numbers(version: string): readonly number[] {
  return version.split('.').map(Number);
}

async function begin({ source, target }: RedisJob, ports: EnginePorts, signal: AbortSignal): Promise<void> {
  await within(target, ports, signal, async (session) => {
    await writeSettings(session, settingsFor(source), await readSettings(session));
    await follow(session, source);
  });
}

interface Watching {
  readonly source: Held<RedisSession>;
  readonly target: Held<RedisSession>;
  readonly job: RedisJob;
  readonly ports: EnginePorts;
  readonly board: Board;
  readonly stop: AbortSignal;
}

/** Resolves when it is stopped, or has nothing left to replicate; rejects when it cannot go on. */
async function watch({ source, target, job, ports, board, stop }: Watching): Promise<void> {
  const { now, waits, sleep } = ports;
  let downSince: number | undefined;
  let before: Look | undefined;
  let idleSince: number | undefined;
  let idleLooks = 0;
  try {
    while (!stop.aborted) {
      const from = await source.ask(infoOf);
      const to = await target.ask(infoOf);
      if (from !== undefined && to !== undefined) {
        const seen = look(from, to);
        show(board, seen);
        downSince = seen.isUp || seen.isCopying ? undefined : (downSince ?? performance.now());
        if (downSince !== undefined && performance.now() - downSince > waits.patience) {
          throw new MigrationError(
            'the target cannot follow the source: its link is down; the log of the target says why',
          );
        }
        // Pings go through the same stream as writes, so that it is never still: what counts is the look before.
        const isQuiet =
          seen.isUp && before !== undefined && seen.taken >= before.written && seen.writes === before.writes;
        before = seen;
        idleSince = isQuiet ? (idleSince ?? now()) : undefined;
        idleLooks = idleSince !== undefined && now() - idleSince >= waits.idle ? idleLooks + 1 : 0;
        if (job.finishWhenIdle && idleLooks >= 2) return;
      }
      await sleep(waits.poll, stop);
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  }
}

function show(board: Board, { isUp, lagBytes, databases }: Look): void {
  for (const { name, keys } of databases) {
    let progress = board.databases.find((one) => one.name === name);
    if (progress === undefined) {
      progress = newProgress(name);
      progress.method = 'continuous';
      board.databases.push(progress);
    }
    progress.tables = [keys];
    progress.lagBytes = lagBytes;
    progress.phase = isUp ? 'streaming' : 'copying';
  }
}

function holdRedis(door: RedisSource, ports: EnginePorts, signal: AbortSignal): Held<RedisSession> {
  return hold({
    open: () => ports.connectRedis(door, { limit: ports.waits.connect, signal }),
    close: (session) => session.end(),
    passes: (error) =>
      error instanceof ConnectError
        ? error.phase === 'network' || error.code === 'LOADING'
        : error instanceof CommandError && error.lost,
    patience: ports.waits.patience,
  });
}

import type { Board } from '../board.ts';
import { createGate } from '../gate.ts';
import type { EnginePorts, PostgresJob } from '../job.ts';
import { isOver, newProgress } from '../state.ts';
import { MigrationError } from '../words.ts';
import { moveDatabase } from './database.ts';
import { type Database, listDatabases } from './databases.ts';
import { isIdle } from './follow.ts';
import { watchName } from './names.ts';
import { copyRoles } from './roles.ts';
import { judgeServers, readServer, type Server } from './servers.ts';
import { within } from './session.ts';
import { createTower } from './tower.ts';

/** Moves every database of the source. Rejects when none could be begun; what becomes of each stands on the board. */
export async function runPostgres(
  job: PostgresJob,
  ports: EnginePorts,
  board: Board,
  stop: AbortSignal,
): Promise<void> {
  const found = await survey(job, ports, board, stop);
  board.databases.push(...found.databases.map(({ name }) => newProgress(name)));
  const idle = new AbortController();
  const end = AbortSignal.any([stop, idle.signal]);
  const tower = createTower(job.source, found.source.version, ports, end);
  const run = {
    ...found,
    job,
    ports,
    tower,
    setup: createGate(ports.waits.parallel),
    subscribing: createGate(1),
    stop,
    end,
    leftovers: board.leftovers,
  };
  const moves = found.databases.map((database, at) => moveDatabase(run, database, board.databases[at]!));
  const all = Promise.all(moves);
  if (job.finishWhenIdle) void endWhenIdle(board, ports, idle, all);
  await all;
  await tower.end();
}

interface Found {
  readonly source: Server;
  readonly target: Server;
  readonly databases: readonly Database[];
}

async function survey(job: PostgresJob, ports: EnginePorts, board: Board, signal: AbortSignal): Promise<Found> {
  const opening = { name: watchName, signal };
  return within(job.source, ports, opening, (from) =>
    within(job.target, ports, opening, async (to) => {
      const [source, target] = [await readServer(from), await readServer(to)];
      judgeServers(source, target);
      const databases = await listDatabases(from, job.ignoreDbs);
      if (databases.length === 0) throw new MigrationError('every database of the source is left out');
      board.warnings.push(...(await copyRoles(from, to, ports.random)));
      return { source, target, databases };
    }),
  );
}

/** A database that has failed, or was dumped, keeps nobody waiting. */
async function endWhenIdle(
  board: Board,
  ports: EnginePorts,
  idle: AbortController,
  all: Promise<unknown>,
): Promise<void> {
  const over = new AbortController();
  void all.then(() => over.abort());
  while (!over.signal.aborted) {
    const living = board.databases.filter((one) => !isOver(one));
    if (living.length > 0 && living.every(isIdle)) return idle.abort();
    await ports.sleep(ports.waits.poll, over.signal).catch(() => {});
  }
  return undefined;
}

import { QueryError } from '../../postgresql/failure.ts';
import type { Gate } from '../gate.ts';
import { type EnginePorts, isInterrupted, type PostgresJob } from '../job.ts';
import type { PostgresEntry } from '../journal.ts';
import type { Leftover, Method, Progress } from '../state.ts';
import { MigrationError, reasonOf } from '../words.ts';
import { createDatabase, type Database, foreignTables } from './databases.ts';
import { dump } from './dump.ts';
import { follow } from './follow.ts';
import { objectName, watchName } from './names.ts';
import { publish, subscribe } from './objects.ts';
import { removeObjects } from './removal.ts';
import { bringRest } from './rest.ts';
import type { Server } from './servers.ts';
import { within } from './session.ts';
import type { Tower } from './tower.ts';

/** What the databases of one migration share. */
export interface Run {
  readonly job: PostgresJob;
  readonly ports: EnginePorts;
  readonly source: Server;
  readonly target: Server;
  readonly tower: Tower;
  /** So many databases are set up at once. */
  readonly setup: Gate;
  /** One subscription at a time, so that each sees the workers the others took. */
  readonly subscribing: Gate;
  /** Somebody wants it to end: what is not replicating yet is given up. */
  readonly stop: AbortSignal;
  /** The stop, or the end of a migration that has nothing left to replicate. */
  readonly end: AbortSignal;
  readonly leftovers: Leftover[];
}

/** Moves one database. What becomes of it stands in `progress`; it never rejects, and leaves nothing of ours behind. */
export async function moveDatabase(run: Run, database: Database, progress: Progress): Promise<void> {
  const { job, ports, stop } = run;
  const doors = {
    source: { ...job.source, dbname: database.name },
    target: { ...job.target, dbname: database.name },
  };
  const name = objectName(job.id, database.oid);
  const entry: PostgresEntry = { engine: 'postgresql', name, ...doors, targetSystem: run.target.system };
  let isClean = true;
  const remove = async () => {
    if (isClean) return;
    const left = await removeObjects(entry, ports);
    run.leftovers.push(...left);
    if (left.length === 0) ports.journal.cleared(name);
    isClean = true;
  };
  let failure: string | undefined;
  try {
    const method = await run.setup(async () => {
      stop.throwIfAborted();
      progress.phase = 'schema';
      await makeSchema(run, database, doors, progress);
      stop.throwIfAborted();
      progress.phase = 'connecting';
      ports.journal.intend(entry);
      isClean = false;
      const possible = await connectBoth(run, entry, progress);
      progress.method = possible;
      if (possible === 'dump') {
        await remove();
        await dump({ ...doors, ports, signal: stop, name }, progress);
      }
      return possible;
    });
    if (method === 'continuous') {
      await follow({ entry, targetVersion: run.target.version, tower: run.tower, ports, signal: run.end }, progress);
      if (progress.phase === 'streaming' && !isInterrupted(stop)) await finish(run, entry, progress);
    }
  } catch (error) {
    failure = reasonOf(error, job.source.password, job.target.password);
  }
  await remove();
  progress.error = stop.aborted ? undefined : failure;
  progress.phase = progress.error !== undefined ? 'error' : stop.aborted ? 'stopped' : 'done';
}

async function makeSchema(
  { job, ports, stop }: Run,
  database: Database,
  doors: Pick<PostgresEntry, 'source' | 'target'>,
  progress: Progress,
): Promise<void> {
  const opening = { name: watchName, signal: stop };
  progress.warnings.push(...(await within(job.target, ports, opening, (session) => createDatabase(session, database))));
  const taken = await within(doors.target, ports, opening, foreignTables);
  if (taken.length > 0) {
    throw new MigrationError(`the database is not empty on the target, which holds ${taken.join(', ')}: drop it there`);
  }
  const copied = await ports.schemaCopy(doors.source, doors.target, stop);
  if (copied.kind === 'refused') {
    throw new MigrationError(`the schema holds what cannot be copied: ${copied.objects.join(', ')}`);
  }
  progress.warnings.push(...copied.warnings);
}

/** Falls back to the dump when the source does not allow replication (insufficient_privilege), and for no other reason. */
async function connectBoth(
  { job, ports, source, subscribing, stop }: Run,
  entry: PostgresEntry,
  progress: Progress,
): Promise<Method> {
  if (job.method === 'dump') return 'dump';
  const opening = { name: entry.name, signal: stop };
  try {
    await within(entry.source, ports, opening, (session) => publish(session, entry.name, source.version));
  } catch (error) {
    if (!(error instanceof QueryError) || error.code !== '42501') throw error;
    progress.warnings.push(`dumped, because replication is not allowed: ${reasonOf(error, entry.source.password)}`);
    return 'dump';
  }
  await subscribing(() =>
    within(entry.target, ports, opening, (session) => subscribe(session, entry.name, entry.source)),
  );
  return 'continuous';
}

/** The end of a database that has everything: what replication does not bring is brought now. */
async function finish({ ports }: Run, { source, target }: PostgresEntry, progress: Progress): Promise<void> {
  progress.phase = 'finishing';
  const opening = { name: watchName };
  try {
    const warnings = await within(source, ports, opening, (from) =>
      within(target, ports, opening, (to) => bringRest(from, to)),
    );
    progress.warnings.push(...warnings);
  } catch (error) {
    progress.warnings.push(`sequences and views were left: ${reasonOf(error, source.password, target.password)}`);
  }
}

import { usualWaits } from '../../engine/job.ts';
import { startMigration } from '../../engine/migration.ts';
import { machinePorts } from '../../engine/ports.ts';
import { createDatabase } from '../../engine/postgresql/databases.ts';
import { objectName, watchName } from '../../engine/postgresql/names.ts';
import { copyRoles } from '../../engine/postgresql/roles.ts';
import { oneValue, rowsOf, within } from '../../engine/postgresql/session.ts';
import { chooseSchemaCopy } from '../../engine/schema/choose.ts';
import type { DatabaseState, MigrationState } from '../../engine/state.ts';
import { quoteLiteral } from '../../postgresql/quote.ts';
import type { PostgresSource } from '../../postgresql/source.ts';
import { judgeSequences } from '../../rehearsal/compare.ts';
import { listTables, readSequences } from '../../rehearsal/count.ts';
import type { Made, RecordFile } from '../../rehearsal/record.ts';
import type { DatabaseRehearsal, TableCount } from '../../rehearsal/report.ts';
import { arrivalOf } from './rehearse-arrival.ts';
import { type Doors, journalOn } from './rehearse-clean.ts';
import { compareRows, whyNotCopied } from './rehearse-compare.ts';
import type { Course, Played } from './rehearse-course.ts';
import type { Plan, Stage } from './rehearse-plan.ts';

/** What one rehearsal of PostgreSQL works with. */
export interface PostgresCourse extends Course {
  readonly doors: Doors<PostgresSource>;
  readonly stage: Stage;
  readonly plan: Plan;
  readonly file: RecordFile;
  readonly ignoreDbs: readonly string[];
  readonly method: 'continuous' | 'dump';
}

export function portsFor(
  { clock, env, random }: Pick<Course, 'clock' | 'env' | 'random'>,
  file: RecordFile,
  doors: Doors<PostgresSource>,
) {
  return machinePorts({
    now: () => clock.now(),
    random,
    journal: journalOn(file, doors),
    schemaCopy: chooseSchemaCopy({ env }),
    waits: { ...usualWaits, poll: 500 },
  });
}

/** Makes, moves, compares and stops; what it made on the target is still there when it resolves, and is in the record. */
export async function playPostgresql(course: PostgresCourse): Promise<Played> {
  const { doors, plan, file, ignoreDbs, method, signal, clock } = course;
  const ports = portsFor(course, file, doors);
  await prepare(course, ports);
  const { id } = file.current();
  const migration = startMigration(
    {
      engine: 'postgresql',
      id,
      ...doors,
      ignoreDbs,
      method,
      deadline: Number.POSITIVE_INFINITY,
      finishWhenIdle: false,
    },
    ports,
  );
  try {
    const arrival = await arrivalOf(migration, {
      clock,
      signal,
      poll: 250,
      patience: course.patience,
      onState: course.onState,
    });
    const looks = new Map<string, Looked>();
    for (const state of migration.state().databases) {
      looks.set(state.name, await lookAt(course, state, plan, ports));
    }
    course.onSettled();
    const last = migration.state();
    await migration.stop('stopped_by_user');
    const ended = migration.state();
    const databases: DatabaseRehearsal[] = [];
    for (const state of last.databases) {
      const look = looks.get(state.name) ?? nothing;
      databases.push(
        await conclude(course, state, look, { ended, seconds: arrival.seconds.get(state.name) ?? 0 }, ports),
      );
    }
    const failed = last.databases.length === 0 && ended.reason !== undefined && ended.status === 'error';
    return { databases, errors: failed ? [ended.reason ?? ''] : [], warnings: ended.warnings };
  } finally {
    await migration.stop('interrupted');
  }
}

type Ports = ReturnType<typeof portsFor>;

/** Roles and databases are made by us, so that what is removed in the end is what was made in the beginning. */
async function prepare({ doors, plan, file, signal }: PostgresCourse, ports: Ports): Promise<void> {
  const opening = { name: watchName, signal };
  await within(doors.source, ports, opening, (source) =>
    within(doors.target, ports, opening, async (target) => {
      const roles = async (session: typeof target) =>
        (await rowsOf(session, 'SELECT rolname AS name, oid FROM pg_roles WHERE oid >= 16384 ORDER BY 1')).map(
          ({ name, oid }): Made => ({ name: name ?? '', ...(oid == null ? {} : { oid }) }),
        );
      const there = (await roles(target)).map(({ name }) => name);
      const wanted = (await roles(source)).filter(({ name }) => !there.includes(name)).map(({ name }) => name);
      file.change({ roles: wanted.map((name) => ({ name })), filled: plan.filled });
      await copyRoles(source, target, ports.random);
      file.change({ roles: (await roles(target)).filter(({ name }) => wanted.includes(name)) });
      for (const database of plan.fresh) {
        const { name } = database;
        const others = file.current().databases;
        file.change({ databases: [...others, { name }] });
        await createDatabase(target, database);
        const oid = await oneValue(target, `SELECT oid FROM pg_database WHERE datname = ${quoteLiteral(name)}`);
        file.change({ databases: [...others, { name, ...(oid === undefined ? {} : { oid }) }] });
      }
    }),
  );
}

interface Looked {
  readonly tables: readonly TableCount[];
  readonly sequences: ReadonlyMap<string, string>;
  readonly errors: readonly string[];
}

const nothing: Looked = { tables: [], sequences: new Map(), errors: [] };

/** Counts while it replicates; the tables of a database that has failed are not counted. */
async function lookAt(course: PostgresCourse, state: DatabaseState, plan: Plan, ports: Ports): Promise<Looked> {
  const { signal, patience, tries } = course;
  if (state.phase === 'error') return nothing;
  const isCopied = state.phase === 'streaming' || state.phase === 'done';
  const isStuck = state.phase === 'copying' && state.method === 'continuous' && state.tables.length > 0;
  if (!isCopied && !isStuck) return { ...nothing, errors: [heldUp(state, patience)] };
  const doors = into(course.doors, state.name);
  const isLive = state.phase !== 'done';
  const oid = plan.databases.find(({ name }) => name === state.name)?.oid ?? '';
  const waiting = new Set(state.tables.filter(({ stage }) => stage !== 'r').map(({ name }) => name));
  const slot = isLive ? { name: objectName(course.file.current().id, oid), version: plan.source.version } : undefined;
  const sequences = await within(doors.source, ports, { name: watchName, signal }, readSequences);
  if (isLive && waiting.size > 0) {
    const stuck = await whyWaiting(doors, waiting, ports, signal);
    return { tables: stuck, sequences: new Map(), errors: [] };
  }
  const { tables, isBehind } = await compareRows({ doors, ports, signal, tries, patience, slot });
  const errors = isBehind
    ? ['what the source writes does not arrive on the target any more; the log of the target says why']
    : [];
  return { tables, sequences, errors };
}

function heldUp({ phase, method }: DatabaseState, patience: number): string {
  const why =
    phase === 'connecting'
      ? ': a transaction that is open anywhere on the source holds up the making of a replication slot'
      : method === 'dump'
        ? ': the dump stood still'
        : '';
  return `nothing came nearer for ${Math.round(patience / 1000)} s in the phase ${phase}${why}`;
}

/** Tables that never came are tried by ourselves, so that the target says why; those that came are not counted. */
async function whyWaiting(
  doors: Doors<PostgresSource>,
  waiting: ReadonlySet<string>,
  ports: Ports,
  signal: AbortSignal,
): Promise<readonly TableCount[]> {
  const all = await within(doors.source, ports, { name: watchName, signal }, listTables);
  const found: TableCount[] = [];
  for (const table of all.filter(({ name }) => waiting.has(name))) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(60_000)]);
    const error = found.length < 10 ? await whyNotCopied(doors, table, ports, limit) : undefined;
    signal.throwIfAborted();
    const reason = limit.aborted ? undefined : error;
    found.push({
      name: table.name,
      rows_source: null,
      rows_target: null,
      state: 'not_copied',
      ...(reason === undefined ? {} : { error: reason }),
    });
  }
  return found;
}

/** The end brings the sequences; they are compared when it has. */
async function conclude(
  course: PostgresCourse,
  { name, method, error }: DatabaseState,
  { tables, sequences, errors }: Looked,
  { ended, seconds }: { readonly ended: MigrationState; readonly seconds: number },
  ports: Ports,
): Promise<DatabaseRehearsal> {
  const opening = { name: watchName, signal: course.signal };
  const doors = into(course.doors, name);
  const after = sequences.size === 0 ? sequences : await within(doors.source, ports, opening, readSequences);
  const there = sequences.size === 0 ? sequences : await within(doors.target, ports, opening, readSequences);
  const warnings = ended.databases.find((one) => one.name === name)?.warnings ?? [];
  return {
    name,
    method: method ?? null,
    seconds: Math.round(seconds * 10) / 10,
    tables,
    sequences: judgeSequences(sequences, there, after),
    errors: [...(error === undefined ? [] : [error]), ...errors],
    warnings,
  };
}

function into({ source, target }: Doors<PostgresSource>, dbname: string): Doors<PostgresSource> {
  return { source: { ...source, dbname }, target: { ...target, dbname } };
}

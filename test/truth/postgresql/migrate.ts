import type { Major } from '../../../scripts/postgres.mjs';
import type { PostgresqlEndpoint } from '../../../src/postgresql/endpoint.ts';
import { quoteLiteral } from '../../../src/postgresql/quote.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import { differences, runApplicationStatements, statementsOf, within } from './rows.ts';

/** By database: what did not hold; nothing where the migration works. */
export type ProblemsByDatabase = ReadonlyMap<string, readonly string[]>;

export interface MigrationResult {
  readonly problems: ProblemsByDatabase;
  readonly remarks: readonly string[];
}

export interface MigrationPlan {
  readonly source: Postgres;
  readonly target: Postgres;
  readonly targetVersion: Major;
  /** The login of the target without SUPERUSER; undefined: its superuser. */
  readonly targetLogin: Pick<PostgresqlEndpoint, 'username' | 'password'> | undefined;
  readonly connection: PostgresqlEndpoint;
  readonly databases: readonly string[];
  readonly ignored: readonly string[];
  /** Tables without statements of the application but those of `app`. */
  readonly quiet: readonly string[] | 'all';
  /** Of the application, in the first database. */
  readonly app: readonly string[];
  /** Losses the preflight has announced. */
  readonly announced: readonly string[];
  /** Of the migration; a fresh one unless told. */
  readonly id: string | undefined;
  /** Milliseconds for the copy, and as many for what is written later. */
  readonly timeLimit: number;
}

/** An engine that runs the migration of a case. */
export interface TruthEngine {
  /** Starts the continuous migration. Resolves when every table is copied, or with what prevents that. */
  start(plan: MigrationPlan): Promise<StartedMigration>;
  /** Copies a point in time. */
  dump(plan: MigrationPlan): Promise<MigrationResult>;
}

export interface StartedMigration {
  readonly problems: ProblemsByDatabase;
  /** Ends it. Resolves with what it left behind. */
  stop(): Promise<readonly string[]>;
}

/**
 * Migrates for real and compares the result (the oracle): every table ready in time, what is written on the source later
 * arrives, all rows equal, no statement of the application fails, no commit waits, not even while the target is away.
 */
export async function migrate(plan: MigrationPlan, engine: TruthEngine): Promise<MigrationResult> {
  const { source, target, databases } = plan;
  const logged = target.log().length;
  const spoken = new Map<string, readonly string[]>();
  for (const [at, name] of databases.entries()) {
    // A database that refuses connections has no statements.
    spoken.set(name, await statementsOf(source, name, plan.quiet, at === 0 ? plan.app : []).catch(() => []));
  }
  const migration = await engine.start(plan);
  let left: readonly string[] | undefined;
  try {
    const ways = new Map<string, string[]>();
    for (const name of databases) ways.set(name, [...(migration.problems.get(name) ?? ['it was not migrated'])]);
    const living = databases.filter((name) => ways.get(name)?.length === 0);
    for (const name of living)
      ways.get(name)?.push(...(await runApplicationStatements(source, name, spoken.get(name) ?? [])));
    const [first] = living.filter((name) => (spoken.get(name) ?? []).length > 0);
    if (first !== undefined) ways.get(first)?.push(...(await speakAway(source, target, first)));
    for (const name of living) ways.get(name)?.push(...(await equal(plan, name, logged)));
    left = await migration.stop();
    return { problems: ways, remarks: left };
  } finally {
    if (left === undefined) await migration.stop();
  }
}

export function all(databases: readonly string[], why: readonly string[]): MigrationResult {
  return { problems: new Map(databases.map((name) => [name, why])), remarks: [] };
}

/** The last error in the log of the target since that position. */
export function lastComplaint(target: Postgres, since: number): string {
  const lines = target.log().slice(since).split('\n');
  const found = lines.findLast((line) => line.includes('ERROR:'));
  return found === undefined ? '' : `; the target's log: ${found.replace(/^.*?ERROR: +/, '')}`;
}

/** A target that is away must not be felt. */
async function speakAway(source: Postgres, target: Postgres, database: string): Promise<readonly string[]> {
  const turn = (how: 'DISABLE' | 'ENABLE') =>
    within(target, database, async (session) => {
      const { rows } = await session.query(
        'SELECT subname FROM pg_subscription WHERE subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())',
      );
      for (const { subname } of rows) await session.query(`ALTER SUBSCRIPTION "${subname}" ${how}`);
    });
  await turn('DISABLE');
  const complaints = await runApplicationStatements(source, database, [
    "INSERT INTO base SELECT max(id) + 1, 'while it was away' FROM base",
  ]);
  await turn('ENABLE');
  return complaints.map((text) => `while the target was away: ${text}`);
}

async function equal(
  { source, target, announced, timeLimit: patience }: MigrationPlan,
  name: string,
  logged: number,
): Promise<readonly string[]> {
  const [{ lsn } = {}] = await source.query('SELECT pg_current_wal_lsn() AS lsn');
  const repeats = createErrorCounter(target);
  for (const end = Date.now() + patience; ; ) {
    // Asked before the rows are compared: what differs after everything was applied differs for ever.
    const isApplied = await hasReceived(source, name, String(lsn));
    const found = await differences(source, target, name, announced);
    if (found.length === 0) return [];
    if (isApplied || repeats(found.join()) || Date.now() > end) {
      return [`${found.slice(0, 3).join(', ')}${lastComplaint(target, logged)}`];
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Whether every subscriber has confirmed the changes up to that position. */
async function hasReceived(source: Postgres, database: string, lsn: string): Promise<boolean> {
  const [row] = await source.query(
    `SELECT count(*) > 0 AND bool_and(confirmed_flush_lsn >= ${quoteLiteral(lsn)}::pg_lsn) AS received
     FROM pg_replication_slots WHERE slot_type = 'logical' AND active AND database = ${quoteLiteral(database)}`,
  );
  return row?.received === true;
}

/** Whether the target has logged so many errors, without a change of the state, that it will go on to fail. */
export function createErrorCounter(target: Postgres): (state: string) => boolean {
  let latest: string | undefined;
  let from = 0;
  return (state) => {
    const text = target.log();
    if (state !== latest) from = text.length;
    latest = state;
    return text.slice(from).split('ERROR:').length > maxErrors;
  };
}

const maxErrors = 10;

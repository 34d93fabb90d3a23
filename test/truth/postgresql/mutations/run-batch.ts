import { nearestWord } from '../../../../src/cli/values.ts';
import type { CheckFinding } from '../../../../src/db/preflight/finding.ts';
import { runPostgresqlPreflight } from '../../../../src/db/preflight/postgresql/run.ts';
import { optionsOfTarget, readPostgresqlTarget } from '../../../../src/db/preflight/postgresql/target.ts';
import { systemClock } from '../../../../src/platform/waiting.ts';
import { postgresEndpointOf } from '../../../db/engine/servers.ts';
import { preflightOptions } from '../../../db/preflight/postgresql/facts.ts';
import { type MigrationPlan, migrate, type ProblemsByDatabase } from '../migrate.ts';
import { cloneWithPgcopydb, findFailedSchemas, plainEngine } from '../plain-engine.ts';
import { within } from '../rows.ts';
import { sandboxEngine } from '../sandbox-engine.ts';
import { dropCaseDatabases } from '../server-pool.ts';
import type { MutatedTable } from './mutated-table.ts';
import type { Surroundings } from './surroundings.ts';

export interface BatchServers extends Pick<MigrationPlan, 'source' | 'target' | 'targetVersion' | 'targetLogin'> {
  readonly surroundings: Surroundings;
}

/** A table whose verdict differs from what an engine did. */
export interface MutationDisagreement {
  readonly table: MutatedTable;
  /** `continuous`, or the findings that excluded it. */
  readonly verdict: string;
  /** What happened, by engine. */
  readonly happened: string;
}

export interface BatchResult {
  /** Tables that the source accepted. */
  readonly created: number;
  readonly promised: number;
  readonly blocked: number;
  readonly unproven: number;
  readonly disagreements: readonly MutationDisagreement[];
}

type Migrate = (plan: MigrationPlan, servers: BatchServers) => Promise<ProblemsByDatabase>;

const engines: Readonly<Record<string, Migrate>> = {
  'sandbox engine': async (plan) => (await migrate(plan, sandboxEngine)).problems,
  'plain engine': async (plan) => (await migrate(plan, plainEngine)).problems,
  pgcopydb: async (plan, { surroundings }) =>
    (await cloneWithPgcopydb(plan, surroundings.from)) ?? new Map([[database, []]]),
};
const database = 'mutated';

/**
 * Compares the verdict of each table with what the engines do. Tables that the report names are moved to a database of their
 * own, until the report promises the rest: that must succeed as a whole, and of the others each blocked table must fail.
 * `seen` has the kinds of blocked tables that were tried alone.
 */
export async function runBatch(
  servers: BatchServers,
  tables: readonly MutatedTable[],
  seen: Set<string>,
): Promise<BatchResult> {
  const made = await build(servers, tables);
  const { promised, suspected } = await divide(servers, made);
  const disagreements: MutationDisagreement[] = [];
  let rest = promised;
  for (;;) {
    const failing = await findFailingTable(servers, rest);
    if (failing === undefined) break;
    disagreements.push(failing);
    rest = rest.filter((table) => table !== failing.table);
    await build(servers, rest);
  }
  const blocked = suspected.filter(({ findings }) => findings.some(isBlocker));
  disagreements.push(...(await findFalseAlarms(servers, blocked, seen)));
  await drop(servers);
  return {
    created: made.length,
    promised: promised.length,
    blocked: blocked.length,
    unproven: suspected.length - blocked.length,
    disagreements,
  };
}

/** Creates the tables in a new database of the source. Resolves with those that it accepts. */
async function build(servers: BatchServers, tables: readonly MutatedTable[]): Promise<readonly MutatedTable[]> {
  const { source, surroundings } = servers;
  await drop(servers);
  await source.query(`CREATE DATABASE ${database}`);
  for (const statement of surroundings.settings) await source.query(statement);
  for (const statement of surroundings.extensions) await source.query(statement, database);
  await source.query(
    "CREATE TABLE base (id int PRIMARY KEY, t text); INSERT INTO base SELECT n, 'row ' || n FROM generate_series(1, 50) n",
    database,
  );
  return within(source, database, async (session) => {
    const made: MutatedTable[] = [];
    for (const statement of surroundings.session) await session.query(statement);
    for (const table of tables) {
      try {
        await session.query(['BEGIN', ...table.statements, 'COMMIT'].join(';\n'));
        made.push(table);
      } catch {
        await session.query('ROLLBACK');
      }
    }
    return made;
  });
}

async function drop({ source, target }: BatchServers): Promise<void> {
  for (const server of [target, source]) await dropCaseDatabases(server, { databases: [database] });
  for (const role of ['postgres', 'shop']) await source.query(`ALTER ROLE ${role} RESET ALL`);
}

interface SuspectedTable {
  readonly table: MutatedTable;
  readonly findings: readonly CheckFinding[];
}

async function divide(servers: BatchServers, tables: readonly MutatedTable[]) {
  let promised = tables;
  const suspected: SuspectedTable[] = [];
  for (;;) {
    const report = await preflight(servers);
    if (report.verdict === 'continuous' && report.proven) return { promised, suspected };
    const findings = report.findings.filter((finding) => isBlocker(finding) || finding.status === 'unknown');
    const named = promised.flatMap((table) => {
      const own = findings.filter((finding) => namesOf(finding).has(table.name));
      return own.length === 0 ? [] : [{ table, findings: own }];
    });
    if (named.length === 0) throw new Error(`a finding names no table: ${JSON.stringify(findings)}`);
    suspected.push(...named);
    promised = promised.filter((table) => !named.some((one) => one.table === table));
    await within(servers.source, database, (session) =>
      session.query(named.map(({ table }) => `DROP SCHEMA ${table.name} CASCADE`).join('; ')),
    );
  }
}

function isBlocker({ status, blocks }: CheckFinding): boolean {
  return status === 'fail' && blocks.includes('continuous');
}

function namesOf({ objects = [], detail = '' }: CheckFinding): ReadonlySet<string> {
  return new Set([...objects, detail].flatMap((text) => [...text.matchAll(/\bm\d+(?=\.)/g)].map(([name]) => name)));
}

async function preflight({ source, target, targetLogin }: BatchServers) {
  const databases = await source.query('SELECT datname FROM pg_database');
  const named = { ...postgresEndpointOf(target), ...targetLogin };
  const read = await readPostgresqlTarget(named, AbortSignal.timeout(30_000));
  return runPostgresqlPreflight({
    source: { ...postgresEndpointOf(source), dbname: database },
    options: preflightOptions({
      ...optionsOfTarget(named, read),
      ignoreDbs: databases.map(({ datname }) => String(datname)).filter((name) => name !== database),
      disableSsl: true,
      isOverInternet: false,
      now: Date.now(),
    }),
    clock: systemClock,
    nearest: nearestWord,
    walInterval: 1,
  });
}

/** The problems of the migration of the tables that are on the source now. */
async function migrateWith(
  servers: BatchServers,
  engine: Migrate,
  tables: readonly MutatedTable[],
): Promise<readonly string[]> {
  const plan = await planOf(servers, tables);
  const problems = await engine(plan, servers).catch((error: unknown) => new Map([[database, [String(error)]]]));
  await dropCaseDatabases(servers.target, { databases: [database] });
  return problems.get(database) ?? [];
}

async function planOf(
  { source, target, targetVersion, targetLogin, surroundings }: BatchServers,
  tables: readonly MutatedTable[],
): Promise<MigrationPlan> {
  const databases = await source.query('SELECT datname FROM pg_database');
  return {
    source,
    target,
    targetVersion,
    connection: { ...postgresEndpointOf(source), dbname: database },
    databases: [database],
    ignored: databases.map(({ datname }) => String(datname)).filter((name) => name !== database),
    // The statements of the tables themselves set the search_path that their functions need.
    quiet: 'all',
    app: [...surroundings.session, ...tables.flatMap(({ app }) => app)],
    announced: [],
    id: undefined,
    targetLogin,
    timeLimit: 90_000,
  };
}

/** The table that a migration of all of them fails for, found by halves; undefined: it succeeds with every engine. */
async function findFailingTable(
  servers: BatchServers,
  tables: readonly MutatedTable[],
): Promise<MutationDisagreement | undefined> {
  for (const [name, engine] of Object.entries(engines)) {
    const problems = await migrateWith(servers, engine, tables);
    if (problems.length === 0) continue;
    const table = await bisect(servers, engine, tables, problems);
    return { table, verdict: 'continuous', happened: `${name}: ${problems.join('; ')}` };
  }
  return undefined;
}

async function bisect(
  servers: BatchServers,
  engine: Migrate,
  tables: readonly MutatedTable[],
  problems: readonly string[],
): Promise<MutatedTable> {
  const fails = async (some: readonly MutatedTable[]) => {
    await build(servers, some);
    return (await migrateWith(servers, engine, some)).length > 0;
  };
  // A message often names the table.
  const named = tables.filter(({ name }) => problems.some((text) => new RegExp(`\\b${name}\\b`).test(text)));
  for (const table of named.slice(0, 2)) if (await fails([table])) return table;
  let some = tables;
  while (some.length > 1) {
    const half = some.slice(0, Math.ceil(some.length / 2));
    some = (await fails(half)) ? half : some.slice(half.length);
  }
  const [table] = some;
  if (table === undefined) throw new Error(`no table fails: ${problems.join('; ')}`);
  return table;
}

/** Blocked tables that come through with every engine. */
async function findFalseAlarms(
  servers: BatchServers,
  blocked: readonly SuspectedTable[],
  seen: Set<string>,
): Promise<readonly MutationDisagreement[]> {
  if (blocked.length === 0) return [];
  const tables = blocked.map(({ table }) => table);
  await build(servers, tables);
  const failed = await findFailedSchemas(await planOf(servers, tables), database);
  await dropCaseDatabases(servers.target, { databases: [database] });
  const found: MutationDisagreement[] = [];
  for (const { table, findings } of blocked.filter((one) => !failed.has(one.table.name))) {
    if (findings.filter(isBlocker).every(({ id }) => isKnownAlarm(id, table))) continue;
    await build(servers, [table]);
    // A finding may list tables that it does not block, beside one that it does.
    const report = await preflight(servers);
    const reasons = report.findings.filter(isBlocker).map(({ id }) => id);
    const kind = `${reasons}: ${table.kinds}`;
    // One of each kind, since each takes some seconds.
    if (reasons.length === 0 ? !report.proven : reasons.some((id) => isKnownAlarm(id, table)) || seen.has(kind))
      continue;
    seen.add(kind);
    const happened: string[] = [];
    for (const [name, engine] of Object.entries(engines)) {
      const problems = await migrateWith(servers, engine, [table]);
      if (problems.length > 0) happened.push(`${name}: ${problems.join('; ')}`);
    }
    const isFalse = reasons.length === 0 ? happened.length > 0 : happened.length === 0;
    if (isFalse) found.push({ table, verdict: reasons.join(', ') || 'continuous', happened: happened.join('; ') });
  }
  return found;
}

/** Findings that block some tables whose rows come through (docs/decisions/008-preflight-verdicts.md). */
function isKnownAlarm(id: string, { statements }: MutatedTable): boolean {
  // What the function of a trigger does is not analysed.
  if (id === 'always-triggers') return true;
  // Whether the rows that a function reads are copied in time is chance.
  if (id === 'reading-functions') return true;
  // A default or a view fails when it is used, after the migration.
  if (id === 'time-zones') return true;
  // A constant beside the clock is not compared with it.
  if (id === 'time-checks') return true;
  // NULL for a name that is not found may do no harm.
  return id === 'search-path' && statements.some((statement) => statement.includes('to_regclass'));
}

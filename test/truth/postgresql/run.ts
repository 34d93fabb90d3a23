import { nearestWord } from '../../../src/cli/values.ts';
import { runPostgresqlPreflight } from '../../../src/db/preflight/postgresql/run.ts';
import { optionsOfTarget, readPostgresqlTarget } from '../../../src/db/preflight/postgresql/target.ts';
import type { PreflightReport } from '../../../src/db/preflight/report.ts';
import { systemClock } from '../../../src/platform/waiting.ts';
import type { PostgresqlEndpoint } from '../../../src/postgresql/endpoint.ts';
import { quoteIdentifier, quoteLiteral } from '../../../src/postgresql/quote.ts';
import { postgresEndpointOf } from '../../db/engine/servers.ts';
import { preflightOptions } from '../../db/preflight/postgresql/facts.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import { validReport } from '../../fixtures/report-schema.ts';
import { type BestMethod, type TruthRow, worstMethod } from '../row.ts';
import { databasesOf, isShared, type PostgresCase, type Prepared, plainLogin, type Step } from './case.ts';
import { applyFixes, type FixedSource } from './fix-script.ts';
import { all, type MigrationPlan, type MigrationResult, migrate, type TruthEngine } from './migrate.ts';
import { cloneWithPgcopydb, plainEngine } from './plain-engine.ts';
import { differences, fill } from './rows.ts';
import { sandboxEngine } from './sandbox-engine.ts';
import { setSequences } from './sequences.ts';
import { dropCaseDatabases, type ServerPool } from './server-pool.ts';

/** The verdict first, then, with each engine, the continuous migration, whatever the verdict is; where that fails, the dump. */
export async function runCase(one: PostgresCase, yard: ServerPool, patience: number): Promise<TruthRow> {
  const begun = performance.now();
  const lent = await yard.acquire(one);
  const { source, target } = lent;
  const databases = databasesOf(one);
  let prepared: Prepared | undefined;
  try {
    await build(one, source);
    prepared = await one.before?.(source, target);
    const endpoint = {
      ...postgresEndpointOf(source),
      dbname: databases[0] ?? 'postgres',
      ...one.connection,
      ...prepared?.connection,
    };
    const ignored = (await source.query('SELECT datname FROM pg_database'))
      .map(({ datname }) => String(datname))
      .filter((name) => !databases.includes(name));
    const copies = databases.map((_name, at) => `${copyPrefix}${at}`);
    const preflight = () => judge(one, endpoint, target, ignored);
    const first = await preflight();
    const { report, remarks }: FixedSource =
      one.fixes === undefined
        ? { report: first, remarks: [] }
        : await applyFixes(one.fixes, first, source, databases, preflight);
    const plan: MigrationPlan = {
      source,
      target,
      targetVersion: one.to ?? 17,
      targetLogin: one.plainTarget === true ? plainLogin : undefined,
      connection: { ...endpoint, host: one.migrationHost ?? endpoint.host },
      databases,
      ignored: [...ignored, ...copies],
      quiet: one.quiet ?? [],
      app: one.app ?? [],
      announced: report.data_loss,
      id: prepared?.id,
      timeLimit: patience,
    };
    const again = await keepDatabases(one, source, databases);
    const sandbox = await attempt(one, plan, sandboxEngine);
    await again();
    const plain = await attempt(one, plan, plainEngine);
    const pgcopydb = await clone(one, plan, report);
    return rowOf(one, report, { sandbox, plain, pgcopydb, remarks }, (performance.now() - begun) / 1000);
  } finally {
    await prepared?.end?.();
    await lent.release();
  }
}

const copyPrefix = 'copy_for_the_second_engine_';

/**
 * Copies databases without properties of their own on a shared server. The returned function puts the copies in their
 * place, so that the second engine starts with the rows of the first; where a database cannot be copied or dropped, it
 * keeps what the first engine's statements left.
 */
async function keepDatabases(
  one: PostgresCase,
  source: Postgres,
  databases: readonly string[],
): Promise<() => Promise<void>> {
  const kept: { readonly name: string; readonly copy: string }[] = [];
  if (!isShared(one)) return async () => {};
  for (const [at, database] of databases.entries()) {
    const [row] = await source.query(
      `SELECT datallowconn AND datacl IS NULL AND datconnlimit = -1 AND datdba = 10
         AND NOT EXISTS (SELECT FROM pg_db_role_setting WHERE setdatabase = d.oid) AS plain
       FROM pg_database d WHERE datname = ${quoteLiteral(database)}`,
    );
    if (row?.plain !== true) continue;
    const [name, copy] = [quoteIdentifier(database), `${copyPrefix}${at}`];
    const isCopied = await source.query(`CREATE DATABASE ${copy} TEMPLATE ${name}`).then(
      () => true,
      () => false,
    );
    if (isCopied) kept.push({ name, copy });
  }
  return async () => {
    for (const { name, copy } of kept) {
      await source.query(`DROP DATABASE ${name} WITH (FORCE)`).then(
        () => source.query(`ALTER DATABASE ${copy} RENAME TO ${name}`),
        () => source.query(`DROP DATABASE ${copy}`),
      );
    }
  };
}

interface EngineCourse {
  readonly continuous: MigrationResult;
  /** Undefined where the continuous migration worked. */
  readonly dumped: MigrationResult | undefined;
}

async function attempt(one: PostgresCase, plan: MigrationPlan, engine: TruthEngine): Promise<EngineCourse> {
  const { source, target, databases } = plan;
  const migrated = await caught(databases, () => migrate(plan, engine));
  const behind = one.setsSequences === true ? await setSequences(source, target, databases) : [];
  const continuous = { ...migrated, remarks: [...migrated.remarks, ...behind] };
  await dropCaseDatabases(target, one);
  const failed = databases.filter((name) => holds(continuous, name).length > 0);
  if (failed.length === 0) return { continuous, dumped: undefined };
  const dumped = await caught(databases, () => engine.dump(plan));
  const differing = await Promise.all(
    databases.map(async (name) => [name, await differencesAfter(plan, dumped, name)] as const),
  );
  await dropCaseDatabases(target, one);
  return { continuous, dumped: { ...dumped, problems: new Map(differing) } };
}

/** What the third engine does not copy of the databases that the report calls migratable. */
async function clone(
  one: PostgresCase,
  plan: MigrationPlan,
  { databases }: PreflightReport,
): Promise<readonly string[] | undefined> {
  const promised = databases.filter(({ verdict }) => verdict !== 'blocked').map(({ name }) => name);
  if (promised.length === 0) return undefined;
  try {
    const problems = await cloneWithPgcopydb({ ...plan, databases: promised }, one.from ?? 15);
    return problems === undefined ? undefined : [...problems.values()].flat();
  } finally {
    await dropCaseDatabases(plan.target, one);
  }
}

/** The source is left alone meanwhile, so that all rows must be there afterwards. */
async function differencesAfter(
  { source, target }: MigrationPlan,
  dumped: MigrationResult,
  name: string,
): Promise<readonly string[]> {
  const problems = holds(dumped, name);
  if (problems.length > 0) return problems;
  return differences(source, target, name, []).catch((error: unknown) => [String(error)]);
}

async function judge(
  one: PostgresCase,
  endpoint: PostgresqlEndpoint,
  target: Postgres,
  ignoreDbs: readonly string[],
): Promise<PreflightReport> {
  const named = { ...postgresEndpointOf(target), ...(one.plainTarget === true ? plainLogin : {}) };
  const { targetVersion, target: read } = optionsOfTarget(
    named,
    await readPostgresqlTarget(named, AbortSignal.timeout(30_000)),
  );
  const report = await runPostgresqlPreflight({
    source: endpoint,
    options: preflightOptions({
      targetVersion,
      target: read,
      ignoreDbs,
      disableSsl: endpoint.ssl === 'disable',
      isOverInternet: false,
      now: Date.now(),
      ...one.options,
    }),
    clock: systemClock,
    nearest: nearestWord,
    walInterval: 1,
  });
  return validReport(report);
}

async function build(one: PostgresCase, source: Postgres): Promise<void> {
  for (const step of one.first ?? []) await take(source, step);
  const [first = 'd1', ...others] = databasesOf(one);
  for (const name of [first, ...others]) {
    await source.query(`CREATE DATABASE ${quoteIdentifier(name)} ${one.create?.[name] ?? ''}`);
    if (one.bare !== true) {
      await source.query('CREATE TABLE base (id int PRIMARY KEY, t text)', name);
      await source.query("INSERT INTO base SELECT n, 'row ' || n FROM generate_series(1, 50) n", name);
    }
  }
  for (const statement of one.setup ?? []) await source.query(statement, first);
  if ((one.setup ?? []).length > 0 && one.empty !== true) await fill(source, first);
  // Before 15 a process of its own adds up what was written.
  if ((one.from ?? 15) < 15) await new Promise((resolve) => setTimeout(resolve, 1000));
  for (const step of one.last ?? []) await take(source, step);
}

async function take(source: Postgres, step: Step): Promise<void> {
  if (typeof step !== 'string') await source.query(step.sql, step.in);
  else if (step === 'restart') await source.restart();
  else if (step === 'standby') {
    source.write('standby.signal', '');
    await source.restart();
  } else if (step === 'reload') {
    await source.query('SELECT pg_reload_conf()');
    await new Promise((resolve) => setTimeout(resolve, 300));
  } else if (step.startsWith('rules ')) await source.rules(...step.slice(6).split('; '));
  else await source.query(step);
}

function explanation({ differs, uneven }: PostgresCase): Pick<TruthRow, 'explained'> {
  const explained = differs?.why ?? uneven;
  return explained === undefined ? {} : { explained };
}

async function caught(databases: readonly string[], work: () => Promise<MigrationResult>): Promise<MigrationResult> {
  return work().catch((error: unknown) => all(databases, [error instanceof Error ? error.message : String(error)]));
}

function holds({ problems: ways }: MigrationResult, name: string): readonly string[] {
  return ways.get(name) ?? ['nothing is known of it'];
}

interface Courses {
  readonly sandbox: EngineCourse;
  readonly plain: EngineCourse;
  readonly pgcopydb: readonly string[] | undefined;
  readonly remarks: readonly string[];
}

function rowOf(one: PostgresCase, report: PreflightReport, courses: Courses, seconds: number): TruthRow {
  const { sandbox, plain } = courses;
  const names = databasesOf(one);
  const blockers = report.findings.filter(
    ({ status, blocks, accepted }) => status === 'fail' && blocks.length > 0 && accepted !== true,
  );
  return {
    engine: 'postgresql',
    name: one.name,
    versions: `${one.from ?? 15} -> ${one.to ?? 17}`,
    verdict: report.verdict,
    reasons: [...new Set(blockers.map(({ id }) => id))],
    ...(report.proven
      ? {}
      : { unproven: report.findings.filter(({ status }) => status === 'unknown').map(({ id }) => id) }),
    truth: worstMethod(names.map((name) => methodOf(sandbox, name))),
    plain: worstMethod(names.map((name) => methodOf(plain, name))),
    course: courseOf(sandbox, names),
    plainCourse: courseOf(plain, names),
    ...(courses.pgcopydb === undefined ? {} : { pgcopydb: courses.pgcopydb }),
    databases: names.flatMap((name) => {
      const said = report.databases.find((found) => found.name === name)?.verdict;
      if (said === undefined) return [];
      return [{ name, verdict: said, truth: methodOf(sandbox, name), plain: methodOf(plain, name) }];
    }),
    remarks: [
      ...courses.remarks,
      ...[sandbox, plain].flatMap(({ continuous, dumped }) => [...continuous.remarks, ...(dumped?.remarks ?? [])]),
    ],
    ...explanation(one),
    seconds: Math.round(seconds),
  };
}

function methodOf({ continuous, dumped }: EngineCourse, name: string): BestMethod {
  if (holds(continuous, name).length === 0) return 'continuous';
  return dumped !== undefined && holds(dumped, name).length === 0 ? 'dump' : 'blocked';
}

/** How each attempt ended that failed. */
function courseOf({ continuous, dumped }: EngineCourse, names: readonly string[]): readonly string[] {
  const failures = (method: string, result: MigrationResult | undefined) =>
    names.flatMap((name) => {
      const why = result === undefined ? [] : holds(result, name);
      return why.length === 0 ? [] : [`${names.length > 1 ? `${name}: ` : ''}${method} ${why.join('; ')}`];
    });
  return [...failures('continuous:', continuous), ...failures('dump:', dumped)];
}

import { nearestWord } from '../../../src/cli/suggest.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { quoteIdentifier } from '../../../src/postgresql/quote.ts';
import type { PostgresqlSource } from '../../../src/postgresql/source.ts';
import { runPostgresqlPreflight } from '../../../src/preflight/postgresql/run.ts';
import type { PreflightReport } from '../../../src/preflight/report.ts';
import { postgresEndpointOf } from '../../engine/engine-servers.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import { validReport } from '../../fixtures/report-schema.ts';
import { preflightOptions } from '../../preflight/postgresql/facts.ts';
import { type BestMethod, type TruthRow, worstMethod } from '../row.ts';
import { databasesOf, type PostgresCase, type Prepared, type Step } from './case.ts';
import { copy } from './dump.ts';
import { applyFixes, type FixedSource } from './fix-script.ts';
import { all, type MigrationPlan, type MigrationResult, migrate } from './migrate.ts';
import { fill } from './rows.ts';
import { setSequences } from './sequences.ts';
import { dropCaseDatabases, type ServerPool } from './server-pool.ts';

/** The verdict first, then the continuous migration, whatever the verdict is; where that fails, the dump. */
export async function runCase(one: PostgresCase, yard: ServerPool, patience: number): Promise<TruthRow> {
  const begun = performance.now();
  const lent = await yard.acquire(one);
  const { source, target } = lent;
  const databases = databasesOf(one);
  let prepared: Prepared | undefined;
  try {
    await build(one, source);
    prepared = await one.before?.(source, target);
    const door = {
      ...postgresEndpointOf(source),
      dbname: databases[0] ?? 'postgres',
      ...one.connection,
      ...prepared?.connection,
    };
    const ignored = (await source.query('SELECT datname FROM pg_database'))
      .map(({ datname }) => String(datname))
      .filter((name) => !databases.includes(name));
    const preflight = () => judge(one, door, target, ignored);
    const first = await preflight();
    const { report, remarks }: FixedSource =
      one.fixes === undefined
        ? { report: first, remarks: [] }
        : await applyFixes(one.fixes, first, source, databases, preflight);
    const plan: MigrationPlan = {
      source,
      target,
      connection: { ...door, host: one.migrationHost ?? door.host },
      databases,
      ignored,
      quiet: one.quiet ?? [],
      app: one.app ?? [],
      announced: report.data_loss,
      id: prepared?.id,
      timeLimit: patience,
    };
    const migrated = await caught(databases, () => migrate(plan));
    const behind = one.setsSequences === true ? await setSequences(source, target, databases) : [];
    const continuous = { ...migrated, remarks: [...remarks, ...migrated.remarks, ...behind] };
    await dropCaseDatabases(target, one);
    const failed = databases.filter((name) => holds(continuous, name).length > 0);
    const dumped = failed.length === 0 ? undefined : await caught(databases, () => copy(plan));
    return rowOf(one, report, { continuous, dumped }, (performance.now() - begun) / 1000);
  } finally {
    await prepared?.end?.();
    await lent.release();
  }
}

async function judge(
  one: PostgresCase,
  door: PostgresqlSource,
  target: Postgres,
  ignoreDbs: readonly string[],
): Promise<PreflightReport> {
  const offered = await target.query('SELECT name FROM pg_available_extensions');
  const report = await runPostgresqlPreflight({
    source: door,
    options: preflightOptions({
      targetVersion: String(one.to ?? 17),
      targetExtensions: offered.map(({ name }) => String(name)),
      ignoreDbs,
      disableSsl: door.ssl === 'disable',
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
  readonly continuous: MigrationResult;
  readonly dumped: MigrationResult | undefined;
}

function rowOf(one: PostgresCase, report: PreflightReport, { continuous, dumped }: Courses, seconds: number): TruthRow {
  const names = databasesOf(one);
  const truths = names.map((name): BestMethod => {
    if (holds(continuous, name).length === 0) return 'continuous';
    return dumped !== undefined && holds(dumped, name).length === 0 ? 'dump' : 'blocked';
  });
  const told = (how: string, course: MigrationResult | undefined) =>
    course === undefined
      ? []
      : names.flatMap((name) => {
          const why = holds(course, name);
          return why.length === 0 ? [] : [`${names.length > 1 ? `${name}: ` : ''}${how} ${why.join('; ')}`];
        });
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
    truth: worstMethod(truths),
    course: [...told('continuous:', continuous), ...told('dump:', dumped)],
    databases: names.flatMap((name, at) => {
      const said = report.databases.find((found) => found.name === name)?.verdict;
      return said === undefined ? [] : [{ name, verdict: said, truth: truths[at] ?? 'blocked' }];
    }),
    remarks: [...continuous.remarks, ...(dumped?.remarks ?? [])],
    ...explanation(one),
    seconds: Math.round(seconds),
  };
}

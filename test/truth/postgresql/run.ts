import { nearest } from '../../../src/cli/suggest.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { quoteIdentifier } from '../../../src/postgresql/quote.ts';
import type { PostgresSource } from '../../../src/postgresql/source.ts';
import { preflightPostgresql } from '../../../src/preflight/postgresql/run.ts';
import type { Report } from '../../../src/preflight/report.ts';
import { doorOf } from '../../engine/ground.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import { wish } from '../../preflight/postgresql/facts.ts';
import { type Best, type Row, worst } from '../row.ts';
import { databasesOf, type PostgresCase, type Prepared, type Step } from './case.ts';
import { copy } from './dump.ts';
import { all, type Course, migrate, type Plan } from './migrate.ts';
import { fill } from './rows.ts';
import { clear, type Yard } from './yard.ts';

/** The verdict first, then the continuous migration, whatever the verdict is; where that fails, the dump. */
export async function runCase(one: PostgresCase, yard: Yard, patience: number): Promise<Row> {
  const begun = performance.now();
  const lent = await yard.lend(one);
  const { source, target } = lent;
  const databases = databasesOf(one);
  let prepared: Prepared | undefined;
  try {
    await build(one, source);
    prepared = await one.before?.(source, target);
    const door = { ...doorOf(source), dbname: databases[0] ?? 'postgres', ...one.door, ...prepared?.door };
    const ignored = (await source.query('SELECT datname FROM pg_database'))
      .map(({ datname }) => String(datname))
      .filter((name) => !databases.includes(name));
    const report = await judge(one, door, target, ignored);
    const plan: Plan = {
      source,
      target,
      door: { ...door, host: one.truthHost ?? door.host },
      databases,
      ignored,
      quiet: one.quiet ?? [],
      app: one.app ?? [],
      announced: report.data_loss,
      id: prepared?.id,
      patience,
    };
    const continuous = await caught(databases, () => migrate(plan));
    await clear(target, one);
    const failed = databases.filter((name) => holds(continuous, name).length > 0);
    const dumped = failed.length === 0 ? undefined : await caught(databases, () => copy(plan));
    return rowOf(one, report, { continuous, dumped }, (performance.now() - begun) / 1000);
  } finally {
    await prepared?.end?.();
    await lent.giveBack();
  }
}

async function judge(
  one: PostgresCase,
  door: PostgresSource,
  target: Postgres,
  ignoreDbs: readonly string[],
): Promise<Report> {
  const offered = await target.query('SELECT name FROM pg_available_extensions');
  return preflightPostgresql({
    source: door,
    wish: wish({
      targetVersion: String(one.to ?? 17),
      targetExtensions: offered.map(({ name }) => String(name)),
      ignoreDbs,
      disableSsl: door.ssl === 'disable',
      asPublic: false,
      now: Date.now(),
      ...one.wish,
    }),
    clock: systemClock,
    nearest,
    walInterval: 1,
  });
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
  if ((one.setup ?? []).length > 0) await fill(source, first);
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

function explanation({ differs, uneven }: PostgresCase): Pick<Row, 'explained'> {
  const explained = differs?.why ?? uneven;
  return explained === undefined ? {} : { explained };
}

async function caught(databases: readonly string[], work: () => Promise<Course>): Promise<Course> {
  return work().catch((error: unknown) => all(databases, [error instanceof Error ? error.message : String(error)]));
}

function holds({ ways }: Course, name: string): readonly string[] {
  return ways.get(name) ?? ['nothing is known of it'];
}

interface Courses {
  readonly continuous: Course;
  readonly dumped: Course | undefined;
}

function rowOf(one: PostgresCase, report: Report, { continuous, dumped }: Courses, seconds: number): Row {
  const names = databasesOf(one);
  const truths = names.map((name): Best => {
    if (holds(continuous, name).length === 0) return 'continuous';
    return dumped !== undefined && holds(dumped, name).length === 0 ? 'dump' : 'blocked';
  });
  const told = (how: string, course: Course | undefined) =>
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
    truth: worst(truths),
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

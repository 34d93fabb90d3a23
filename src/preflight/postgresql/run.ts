import { CliError } from '../../errors.ts';
import type { Clock } from '../../platform/host.ts';
import { timeoutSignal } from '../../platform/timeout.ts';
import type { PostgresSource } from '../../postgresql/source.ts';
import type { Finding } from '../finding.ts';
import { refuseUnknownIds } from '../misspelt.ts';
import type { IgnoreAdvice, Report } from '../report.ts';
import { type Conclusion, conclude } from '../verdict.ts';
import type { Wish } from '../wish.ts';
import { adviseIgnoring } from './advice.ts';
import { role } from './asks/role.ts';
import type { TableSize } from './asks/sizes.ts';
import { catalogue } from './catalogue.ts';
import type { AnyCheck, ServerCheck } from './check.ts';
import { gatherGround } from './entry.ts';
import { copyOf, copyTime, largestTables } from './estimate.ts';
import { serverFinding } from './findings.ts';
import { readAnswer } from './gather.ts';
import type { Ground } from './ground.ts';
import { type Survey, survey } from './survey.ts';
import { mayBlock } from './weights.ts';

export interface PreflightOptions {
  readonly source: PostgresSource;
  readonly wish: Wish;
  /** Milliseconds for the whole run; 60 s unless told. */
  readonly deadline?: number;
  /** Connections at once, 8 unless told; a tenth of the free ones is never exceeded. */
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
  readonly clock: Clock;
  /** The closest of the known words, for a misspelt database or check. */
  readonly nearest: (word: string, known: readonly string[]) => string | undefined;
  /** Databases done and all of them. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Hears every message just before it is sent. */
  readonly onQuery?: (database: string, text: string) => void;
  /** Milliseconds between the two readings of the WAL position; 5 s unless told. */
  readonly walInterval?: number;
  /** The checks to make; the whole catalogue unless told. */
  readonly checks?: readonly AnyCheck[];
}

export interface PostgresReport extends Report {
  /** The biggest tables of all databases, biggest first, twenty at most. */
  readonly largest_tables: readonly TableSize[];
}

/**
 * Asks the source everything and judges it. What the source does wrong is in the report; throws a CliError for wrong words of
 * the person (usage), and when the signal ends it (cancelled).
 */
export async function preflightPostgresql(options: PreflightOptions): Promise<PostgresReport> {
  const { source, wish, clock, deadline = 60_000, checks = catalogue } = options;
  const begun = clock.now();
  refuseUnknownIds(
    wish.accept,
    checks.map(({ id }) => id),
    options.nearest,
  );
  const over = timeoutSignal(deadline);
  const signal = options.signal === undefined ? over : AbortSignal.any([over, options.signal]);
  let queries = 0;
  const onSent = (database: string, text: string) => {
    queries += text.split(';').length;
    options.onQuery?.(database, text);
  };
  const wayIn = await gatherGround(source, { signal, onSent });
  const { entry } = wayIn.ground;
  const surveyed =
    wayIn.session === undefined || entry.kind !== 'entered'
      ? nothing
      : await survey({
          ...options,
          checks,
          source: wayIn.source,
          session: wayIn.session,
          entered: entry,
          ground: wayIn.ground,
          signal,
          concurrency: options.concurrency ?? 8,
          walInterval: options.walInterval ?? 5000,
          onSent,
          onProgress: options.onProgress ?? (() => {}),
        });
  if (options.signal?.aborted === true) throw new CliError('cancelled', 'the preflight was cancelled');
  const judged = judge(checks, wayIn.ground, surveyed, wish, []);
  return {
    ...describe(options, judged, surveyed),
    queries,
    started_at: new Date(begun).toISOString(),
    duration_ms: Math.round(clock.now() - begun - surveyed.waited),
  };
}

const nothing: Survey = {
  databases: [],
  reach: new Map(),
  answers: new Map(),
  lost: undefined,
  findings: [],
  sizes: new Map(),
  walRate: undefined,
  waited: 0,
};

interface Judged extends Conclusion {
  readonly ground: Ground;
  readonly advice: IgnoreAdvice | undefined;
}

/** As if the databases named in `without` were ignored as well. */
function judge(
  checks: readonly AnyCheck[],
  found: Ground,
  surveyed: Survey,
  wish: Wish,
  without: readonly string[],
): Judged {
  const databases = surveyed.databases.filter((name) => !without.includes(name));
  const kept = new Set(databases);
  const { reach, sizes, walRate } = surveyed;
  const copy = found.entry.kind === 'entered' ? copyOf(databases, sizes) : undefined;
  const ground: Ground = { ...found, databases, reach, walRate, copy, lost: surveyed.lost };
  const server = checks.filter((check): check is ServerCheck => check.scope === 'server');
  const findings = inOrder(checks, [
    ...server.map((check) => serverFinding(check, surveyed.answers, ground, wish)),
    ...surveyed.findings.filter(({ database }) => database === undefined || kept.has(database)),
  ]);
  const conclusion = conclude({
    findings,
    databases,
    methods: ['continuous', 'dump'],
    method: wish.method,
    accept: wish.accept,
    strict: wish.strict,
    mayBlock,
    untold: [
      ...(wish.targetVersion === undefined ? ['version-not-newer'] : []),
      ...(wish.targetExtensions === undefined ? ['extensions'] : []),
    ],
  });
  const advice =
    without.length > 0 || conclusion.methods[wish.method] === true
      ? undefined
      : adviseIgnoring({
          method: wish.method,
          databases,
          findings: conclusion.findings,
          empty: databases
            .filter((name) => sizes.get(name)?.tables === 0)
            .sort((a, b) => sizes.get(a)!.databaseBytes - sizes.get(b)!.databaseBytes),
          without: (names) => {
            const then = judge(checks, found, surveyed, wish, names);
            return { verdict: then.verdict, possible: then.methods[wish.method] === true };
          },
        });
  return { ...conclusion, ground, advice };
}

/** In catalogue order, and of one check by database. */
function inOrder(checks: readonly AnyCheck[], findings: readonly Finding[]): readonly Finding[] {
  const place = new Map(checks.map(({ id }, at) => [id, at]));
  // The sort is stable: the databases stay in their own order.
  return findings.toSorted((a, b) => (place.get(a.id) ?? 0) - (place.get(b.id) ?? 0));
}

type Described = Omit<PostgresReport, 'queries' | 'started_at' | 'duration_ms'>;

function describe({ source, wish }: PreflightOptions, judged: Judged, { answers, sizes }: Survey): Described {
  const { ground, advice, databases, ...conclusion } = judged;
  const { entry, copy, address } = ground;
  const known = readAnswer(answers, role);
  const estimate = copy === undefined || copy.perDatabase.size === 0 ? undefined : copyTime(copy);
  const dialled = address.connects.find(({ error }) => error === undefined)?.address;
  return {
    schema_version: 1,
    engine: 'postgresql',
    ...conclusion,
    method: wish.method,
    source: {
      host: source.host,
      port: source.port,
      dbname: source.dbname,
      username: source.username,
      ssl: entry.kind === 'entered' ? entry.ssl : source.ssl === 'require',
      ...(dialled === undefined ? {} : { address: dialled }),
      ...(entry.kind === 'entered' ? { server_version: versionText(entry.version) } : {}),
      ...(known === undefined ? {} : { role: { superuser: known.superuser, replication: known.replication } }),
    },
    target: wish.targetVersion === undefined ? {} : { version: wish.targetVersion },
    databases: databases.map((one) => {
      const found = sizes.get(one.name);
      return found === undefined ? one : { ...one, size_bytes: found.databaseBytes, tables: found.tables };
    }),
    ...(estimate === undefined
      ? {}
      : { estimate: { seconds_low: Math.ceil(estimate.low), seconds_high: Math.ceil(estimate.high) } }),
    ...(advice === undefined ? {} : { advice }),
    largest_tables: largestTables(sizes),
  };
}

/** `15.18` of 150018, `9.6.24` of 90624. */
export function versionText(version: number): string {
  const major = Math.floor(version / 10_000);
  const rest = version % 10_000;
  return major >= 10 ? `${major}.${rest}` : `${major}.${Math.floor(rest / 100)}.${rest % 100}`;
}

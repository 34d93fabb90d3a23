import { CliError } from '../../errors.ts';
import type { Clock } from '../../platform/host.ts';
import { timeoutSignal } from '../../platform/timeout-signal.ts';
import type { PostgresqlSource } from '../../postgresql/source.ts';
import type { Finding } from '../finding.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import type { IgnoreAdvice, PreflightReport } from '../report.ts';
import { rejectUnknownCheckIds } from '../unknown-check-ids.ts';
import { type Conclusion, deriveVerdict } from '../verdict.ts';
import type { PostgresqlCheck, ServerCheck } from './check.ts';
import { postgresqlChecks } from './checks.ts';
import { type CollectedPostgresqlFacts, collectPostgresqlFacts } from './collect-facts.ts';
import { estimateCopyTime, initialCopySize, largestTables } from './copy-estimate.ts';
import { evaluateServerCheck } from './evaluate-checks.ts';
import { adviseIgnoringDatabases } from './ignore-advice.ts';
import { openPostgresqlSource } from './open-source.ts';
import { migrationRoleQuery } from './queries/migration-role.ts';
import type { TableSize } from './queries/table-sizes.ts';
import { knownValue } from './run-queries.ts';
import type { PostgresqlSourceFacts } from './source-facts.ts';

export interface PostgresqlRunOptions {
  readonly source: PostgresqlSource;
  readonly wish: PreflightOptions;
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
  readonly checks?: readonly PostgresqlCheck[];
}

export interface PostgresqlReport extends PreflightReport {
  /** The biggest tables of all databases, biggest first, twenty at most. */
  readonly largest_tables: readonly TableSize[];
}

/**
 * Asks the source everything and judges it. What the source does wrong is in the report; throws a CliError for wrong words of
 * the person (usage), and when the signal ends it (cancelled).
 */
export async function runPostgresqlPreflight(options: PostgresqlRunOptions): Promise<PostgresqlReport> {
  const { source, wish, clock, deadline = 60_000, checks = postgresqlChecks } = options;
  const begun = clock.now();
  rejectUnknownCheckIds(
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
  const wayIn = await openPostgresqlSource(source, { signal, onSent });
  const { connection: entry } = wayIn.facts;
  const surveyed =
    wayIn.session === undefined || entry.kind !== 'entered'
      ? noFacts
      : await collectPostgresqlFacts({
          ...options,
          checks,
          source: wayIn.source,
          session: wayIn.session,
          entered: entry,
          facts: wayIn.facts,
          signal,
          concurrency: options.concurrency ?? 8,
          walInterval: options.walInterval ?? 5000,
          onSent,
          onProgress: options.onProgress ?? (() => {}),
        });
  if (options.signal?.aborted === true) throw new CliError('cancelled', 'the preflight was cancelled');
  const judged = evaluateChecks(checks, wayIn.facts, surveyed, wish, []);
  return {
    ...describeReport(options, judged, surveyed),
    queries,
    started_at: new Date(begun).toISOString(),
    duration_ms: Math.round(clock.now() - begun - surveyed.waited),
  };
}

const noFacts: CollectedPostgresqlFacts = {
  databases: [],
  access: new Map(),
  results: new Map(),
  lost: undefined,
  findings: [],
  sizes: new Map(),
  walRate: undefined,
  waited: 0,
};

interface EvaluatedSource extends Conclusion {
  readonly facts: PostgresqlSourceFacts;
  readonly advice: IgnoreAdvice | undefined;
}

/** As if the databases named in `without` were ignored as well. */
function evaluateChecks(
  checks: readonly PostgresqlCheck[],
  found: PostgresqlSourceFacts,
  surveyed: CollectedPostgresqlFacts,
  wish: PreflightOptions,
  without: readonly string[],
): EvaluatedSource {
  const databases = surveyed.databases.filter((name) => !without.includes(name));
  const kept = new Set(databases);
  const { access: reach, sizes, walRate } = surveyed;
  const copy = found.connection.kind === 'entered' ? initialCopySize(databases, sizes) : undefined;
  const ground: PostgresqlSourceFacts = { ...found, databases, access: reach, walRate, copy, lost: surveyed.lost };
  const server = checks.filter((check): check is ServerCheck => check.scope === 'server');
  const findings = inOrder(checks, [
    ...server.map((check) => evaluateServerCheck(check, surveyed.results, ground, wish)),
    ...surveyed.findings.filter(({ database }) => database === undefined || kept.has(database)),
  ]);
  const conclusion = deriveVerdict({
    findings,
    databases,
    methods: ['continuous', 'dump'],
    method: wish.method,
    accept: wish.accept,
    strict: wish.strict,
    mayBlock: (id) => checks.find((check) => check.id === id)?.mayBlock ?? [],
    undetermined: [
      ...(wish.targetVersion === undefined ? ['version-not-newer'] : []),
      ...(wish.targetExtensions === undefined ? ['extensions'] : []),
    ],
  });
  const advice =
    without.length > 0 || conclusion.methods[wish.method] === true
      ? undefined
      : adviseIgnoringDatabases({
          method: wish.method,
          databases,
          findings: conclusion.findings,
          empty: databases
            .filter((name) => sizes.get(name)?.tables === 0)
            .sort((a, b) => sizes.get(a)!.databaseBytes - sizes.get(b)!.databaseBytes),
          without: (names) => {
            const then = evaluateChecks(checks, found, surveyed, wish, names);
            return { verdict: then.verdict, possible: then.methods[wish.method] === true };
          },
        });
  return { ...conclusion, facts: ground, advice };
}

/** In catalogue order, and of one check by database. */
function inOrder(checks: readonly PostgresqlCheck[], findings: readonly Finding[]): readonly Finding[] {
  const place = new Map(checks.map(({ id }, at) => [id, at]));
  // The sort is stable: the databases stay in their own order.
  return findings.toSorted((a, b) => (place.get(a.id) ?? 0) - (place.get(b.id) ?? 0));
}

type ReportBody = Omit<PostgresqlReport, 'queries' | 'started_at' | 'duration_ms'>;

function describeReport(
  { source, wish }: PostgresqlRunOptions,
  judged: EvaluatedSource,
  { results: answers, sizes }: CollectedPostgresqlFacts,
): ReportBody {
  const { facts: ground, advice, databases, ...conclusion } = judged;
  const { connection: entry, copy, address } = ground;
  const known = knownValue(answers, migrationRoleQuery);
  const estimate = copy === undefined || copy.perDatabase.size === 0 ? undefined : estimateCopyTime(copy);
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
      ...(entry.kind === 'entered' ? { server_version: serverVersionText(entry.version) } : {}),
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
export function serverVersionText(version: number): string {
  const major = Math.floor(version / 10_000);
  const rest = version % 10_000;
  return major >= 10 ? `${major}.${rest}` : `${major}.${Math.floor(rest / 100)}.${rest % 100}`;
}

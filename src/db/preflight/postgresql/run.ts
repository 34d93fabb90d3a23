import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { formatVersion } from '../../../postgresql/version.ts';
import {
  type ChangedFindings,
  type CheckFinding,
  type DatabaseEffect,
  type FixEffect,
  findingKey,
  type MigrationMethod,
} from '../finding.ts';
import { connectedAddress } from '../network/addresses.ts';
import type { PreflightOptions } from '../options.ts';
import { type QueryResults, queryValue } from '../query.ts';
import type { DeepReport, IgnoreAdvice, PreflightReport, PreflightVerdict } from '../report.ts';
import {
  type EngineReport,
  type EvaluatedChecks,
  type PreflightEngine,
  type PreflightInput,
  runPreflight,
} from '../run.ts';
import { concernsDatabase, type PreflightConclusion } from '../verdict.ts';
import {
  evaluateDatabaseCheck,
  evaluateServerCheck,
  type PostgresqlCheck,
  type PostgresqlDatabaseCheck,
  type PostgresqlServerCheck,
  postgresqlMethods,
} from './check.ts';
import { postgresqlChecks } from './checks.ts';
import { type CollectedPostgresqlFacts, collectPostgresqlFacts, type PostgresqlInput } from './collect.ts';
import type { DatabaseScan } from './deep/results.ts';
import { factsAfterFixes, isCheckChanged, queriesOfCheck, resultsAfterFixes } from './fix-effects.ts';
import { migrationRoleQuery } from './queries/roles.ts';
import { getSetting, numericSetting, type ServerSettings, settingsQuery } from './queries/settings.ts';
import type { TableSize } from './queries/tables.ts';
import { countStatements } from './run-queries.ts';
import { type OpenedPostgresql, openPostgresqlSource } from './source.ts';
import {
  estimateCopyTime,
  largestTables,
  type PostgresqlFacts,
  sourceVersionNumber,
  sumSizes,
} from './source-facts.ts';

interface IgnoreAdviceInput {
  readonly method: MigrationMethod;
  readonly databases: readonly string[];
  readonly findings: readonly CheckFinding[];
  /** Lists the databases without tables, smallest first. */
  readonly empty: readonly string[];
  /** The verdict if these databases are ignored. */
  readonly without: (names: readonly string[]) => { readonly verdict: PreflightVerdict; readonly possible: boolean };
}

/**
 * The shortest list of databases to ignore so that the migration method becomes possible: every database that blocks it
 * and, if replication slots are short, as many empty ones as needed. undefined if no list helps, or if the method is
 * possible already.
 */
export function adviseIgnoring({
  method,
  databases,
  findings,
  empty,
  without,
}: IgnoreAdviceInput): IgnoreAdvice | undefined {
  const blockers = findings.filter(
    ({ status, accepted, blocks }) => status === 'fail' && accepted !== true && blocks.includes(method),
  );
  if (blockers.length === 0) return undefined;
  const ofDatabases = blockers.filter(({ database, only }) => database !== undefined || only !== undefined);
  const required = databases.filter((name) => ofDatabases.some((finding) => concernsDatabase(finding, name)));
  // Only the maintenance database would be left to migrate.
  const left = databases.filter((name) => !required.includes(name));
  if (left.length === 1 && left[0] === 'postgres' && empty.includes('postgres')) return undefined;
  const optional = empty.filter((name) => databases.includes(name) && !required.includes(name));
  const most = Math.min(optional.length, databases.length - 1 - required.length);
  const verdictWithout = (extra: number) => without([...required, ...optional.slice(0, extra)]);
  let low = required.length === 0 ? 1 : 0;
  let high = most;
  if (high < low || !verdictWithout(high).possible) return undefined;
  // A binary search works, because a method that is possible without some databases is also possible without more of
  // them.
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (verdictWithout(middle).possible) high = middle;
    else low = middle + 1;
  }
  return { ignore_dbs: [...required, ...optional.slice(0, high)], verdict: verdictWithout(high).verdict };
}

/**
 * The summary of the tables and rows that were read, for the report.
 * @param scans by database; undefined: without `--deep`
 * @param databases that are to be migrated; one without a scan was not reached
 */
export function deepReport(
  scans: ReadonlyMap<string, DatabaseScan> | undefined,
  databases: readonly string[],
): DeepReport {
  if (scans === undefined) return { state: 'not_read' };
  const all = databases.map((database) => ({ database, scan: scans.get(database) }));
  const sum = (of: (scan: DatabaseScan) => number) => all.reduce((total, { scan }) => total + (scan ? of(scan) : 0), 0);
  const [longest] = all
    .flatMap(({ database, scan }) =>
      scan?.longestSnapshot === undefined ? [] : [{ database, ...scan.longestSnapshot }],
    )
    .sort((a, b) => b.milliseconds - a.milliseconds);
  const notRead = all.flatMap(({ database, scan }) => {
    if (scan === undefined) return [{ database, reason: 'not_reached', message: 'the database was not reached' }];
    if (scan.failure !== undefined) return [{ database, reason: 'not_listed', message: scan.failure }];
    return scan.unread.map(({ table, reason, message }) => ({ database, table, reason, message }));
  });
  return {
    state: notRead.length === 0 ? 'read' : 'partly_read',
    tables: sum(({ tables }) => tables),
    rows: sum(({ rows }) => rows),
    bytes: sum(({ bytes }) => bytes),
    ...(longest === undefined
      ? {}
      : { longest_snapshot: { ...longest, milliseconds: Math.ceil(longest.milliseconds) } }),
    not_read: notRead,
    keys_not_compared: all.flatMap(
      ({ database, scan }) =>
        scan?.unchecked.map(({ index, table, reason }) => ({ database, table, index, reason })) ?? [],
    ),
  };
}

/**
 * Evaluates the checks as if the statements of the given fixes had run. Only checks whose query results change are
 * evaluated.
 */
export function evaluateAfterFixes(
  checks: readonly PostgresqlCheck[],
  collected: CollectedPostgresqlFacts,
  facts: PostgresqlFacts,
  options: PreflightOptions,
  placed: readonly DatabaseEffect[],
): ChangedFindings {
  const effects = placed.map(({ effect }) => effect);
  const server = resultsAfterFixes(collected.results, effects);
  const serverFacts = factsAfterFixes(facts, effects);
  const hasNewFacts = serverFacts !== facts;
  const changed = new Map<string, CheckFinding>();
  const add = (finding: CheckFinding) => changed.set(findingKey(finding), finding);
  for (const check of checks) {
    if (check.scope === 'server' && (hasNewFacts || isCheckChanged(check, collected.results, server)))
      add(evaluateServerCheck(check as PostgresqlServerCheck, server, serverFacts, options));
  }
  const { databases, access } = collected;
  const databaseFacts = factsAfterFixes({ ...collected.facts, databases, access }, effects);
  const isShared = server !== collected.results || hasNewFacts || effects.some(({ kind }) => kind === 'role');
  const everywhere = effects.filter(isForEveryDatabase);
  const own = ownEffects(placed);
  for (const [database, results] of collected.retained) {
    const local = own.get(database) ?? [];
    if (!isShared && local.length === 0) continue;
    const before = new Map([...collected.results, ...results]);
    const after = new Map([...server, ...resultsAfterFixes(results, [...everywhere, ...local])]);
    for (const check of checks) {
      if (check.scope !== 'database' || !hasResults(check, before)) continue;
      if (hasNewFacts || isCheckChanged(check, before, after))
        add(evaluateDatabaseCheck(check as PostgresqlDatabaseCheck, after, database, databaseFacts, options));
    }
  }
  return { changed, cannotStart: startProblem(server, effects, sourceVersionNumber(facts)) };
}

function hasResults(check: PostgresqlCheck, results: QueryResults): boolean {
  return queriesOfCheck(check).every((query) => results.has(query));
}

function ownEffects(placed: readonly DatabaseEffect[]): ReadonlyMap<string | undefined, readonly FixEffect[]> {
  const own = new Map<string | undefined, FixEffect[]>();
  for (const { effect, database } of placed) {
    if (isForEveryDatabase(effect)) continue;
    const known = own.get(database);
    if (known === undefined) own.set(database, [effect]);
    else known.push(effect);
  }
  return own;
}

function isForEveryDatabase({ kind }: FixEffect): boolean {
  return kind !== 'result' && kind !== 'replica-identity';
}

/**
 * The combinations of settings with which PostgreSQL refuses to start (PostmasterMain, CheckRequiredParameterValues in
 * its source).
 */
function startProblem(results: QueryResults, effects: readonly FixEffect[], version: number): string | undefined {
  const settings = queryValue<ServerSettings>(results, settingsQuery);
  if (settings === undefined || !effects.some(({ kind }) => kind === 'restart')) return undefined;
  const senders = numericSetting(settings, 'max_wal_senders');
  if (getSetting(settings, 'wal_level') === 'minimal' && senders > 0) {
    return 'WAL streaming (max_wal_senders > 0) requires wal_level "replica" or "logical"';
  }
  const connections = numericSetting(settings, 'max_connections');
  const reserved = numericSetting(settings, 'superuser_reserved_connections');
  if (version < 120_000 && settings.has('max_connections') && reserved + senders >= connections) {
    return `superuser_reserved_connections (${reserved}) plus max_wal_senders (${senders}) must be less than max_connections (${connections})`;
  }
  return undefined;
}

export interface PostgresqlRunOptions extends PreflightInput<PostgresqlEndpoint> {
  /** Number of simultaneous connections (default: 8); never more than a tenth of the connections that are free. */
  readonly concurrency?: number;
  /** Milliseconds between the two readings of the WAL position, if a check needs them (default: 5 s). */
  readonly walInterval?: number;
  /** The PostgreSQL checks to run (default: all). */
  readonly checks?: readonly PostgresqlCheck[];
}

interface PostgresqlFields {
  /** The largest tables of all databases, largest first, at most 20. */
  readonly largest_tables: readonly TableSize[];
  readonly rows: DeepReport;
}

export type PostgresqlEngine = PreflightEngine<
  PostgresqlEndpoint,
  OpenedPostgresql,
  CollectedPostgresqlFacts,
  PostgresqlFields
>;

export type PostgresqlReport = PreflightReport & PostgresqlFields;

/**
 * Runs every check on a PostgreSQL source and returns the report. Problems of the source are findings in the report and
 * do not throw.
 * @throws CliError `usage` for unknown check ids or databases, `cancelled` when the signal aborts
 */
export function runPostgresqlPreflight({
  concurrency = 8,
  walInterval = 5000,
  checks = postgresqlChecks,
  ...options
}: PostgresqlRunOptions): Promise<PostgresqlReport> {
  return runPreflight(createPostgresqlEngine({ checks, concurrency, walInterval }), options);
}

/** The operations of a preflight of a PostgreSQL source. */
export function createPostgresqlEngine(settings: PostgresqlInput): PostgresqlEngine {
  const { checks } = settings;
  return {
    name: 'postgresql',
    methods: postgresqlMethods,
    checks,
    open: ({ source, signal, onSend }) =>
      openPostgresqlSource(source, {
        signal,
        onSend: (database, text) => onSend(database, text, countStatements(text)),
      }),
    collectFacts: (opened, run) => collectPostgresqlFacts(opened, run, settings),
    evaluate: (collected, options, ignored) => evaluateChecks(checks, collected, options, ignored),
    effectsEvaluator: (collected, options) => {
      const facts = sourceFacts(collected);
      return (effects) => evaluateAfterFixes(checks, collected, facts, options, effects);
    },
    advise: ({ databases, sizes }, { findings }, conclude, method) =>
      adviseIgnoring({
        method,
        databases,
        findings,
        empty: databases
          .filter((name) => sizes.get(name)?.tables === 0)
          .sort((a, b) => sizes.get(a)!.databaseBytes - sizes.get(b)!.databaseBytes),
        without: (names) => {
          const { verdict, methods } = conclude(names);
          return { verdict, possible: methods[method] === true };
        },
      }),
    describe: (collected, conclusion, { source }) => describeSource(collected, conclusion, source),
  };
}

/** Sorts findings by the order of the checks and, within one check, by the order of the databases. */
function evaluateChecks(
  checks: readonly PostgresqlCheck[],
  collected: CollectedPostgresqlFacts,
  options: PreflightOptions,
  ignored: readonly string[],
): EvaluatedChecks {
  const facts = sourceFacts(collected, ignored);
  const findings = [
    ...checks
      .filter((check): check is PostgresqlServerCheck => check.scope === 'server')
      .map((check) => evaluateServerCheck(check, collected.results, facts, options)),
    ...collected.findings.filter(({ database }) => database === undefined || facts.databases.includes(database)),
  ];
  const position = new Map(checks.map(({ id }, at) => [id, at]));
  // The sort is stable, so findings of one check keep the order of the databases.
  const sorted = findings.toSorted((a, b) => (position.get(a.id) ?? 0) - (position.get(b.id) ?? 0));
  return { findings: sorted, databases: facts.databases };
}

/** All facts of the source, as if the databases in `ignored` did not exist. */
function sourceFacts(
  { facts, databases, access, walRate, sizes, lost }: CollectedPostgresqlFacts,
  ignored: readonly string[] = [],
): PostgresqlFacts {
  const names = databases.filter((name) => !ignored.includes(name));
  const copy = facts.connection.kind === 'entered' ? sumSizes(names, sizes) : undefined;
  return { ...facts, databases: names, access, walRate, copy, lost };
}

function describeSource(
  collected: CollectedPostgresqlFacts,
  { databases }: PreflightConclusion,
  { host, port, dbname, username, ssl }: PostgresqlEndpoint,
): EngineReport<PostgresqlFields> {
  const { sizes, results } = collected;
  const { connection, copy, address, scans } = sourceFacts(collected);
  const role = queryValue(results, migrationRoleQuery);
  return {
    source: {
      host,
      port,
      dbname,
      username,
      ssl: connection.kind === 'entered' ? connection.ssl : ssl === 'require',
      ...connectedAddress(address),
      ...(connection.kind === 'entered' ? { server_version: formatVersion(connection.version) } : {}),
      ...(role === undefined ? {} : { role: { superuser: role.superuser, replication: role.replication } }),
    },
    databases: databases.map((database) => {
      const size = sizes.get(database.name);
      return size === undefined ? database : { ...database, size_bytes: size.databaseBytes, tables: size.tables };
    }),
    estimate: copy === undefined || copy.perDatabase.size === 0 ? undefined : estimateCopyTime(copy),
    extra: { largest_tables: largestTables(sizes), rows: deepReport(scans, collected.databases) },
  };
}

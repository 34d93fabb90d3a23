import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import { formatPostgresqlVersion } from '../../postgresql/version.ts';
import { getConnectedSourceAddress } from '../network/network-facts.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import { getPreflightQueryValue } from '../query.ts';
import type { DeepReadReport, PreflightReport } from '../report.ts';
import {
  type EvaluatedPreflightChecks,
  type PreflightEngine,
  type PreflightEngineReport,
  type PreflightInput,
  runPreflight,
} from '../run.ts';
import type { PreflightConclusion } from '../verdict.ts';
import { adviseIgnoringDatabases } from './advise-ignoring-databases.ts';
import { type PostgresqlCheck, type PostgresqlServerPreflightCheck, postgresqlMigrationMethods } from './check.ts';
import { postgresqlChecks } from './checks.ts';
import { collectPostgresqlFacts } from './collect-postgresql-facts.ts';
import type { CollectedPostgresqlFacts, PostgresqlSpecificPreflightInput } from './collected-postgresql-facts.ts';
import { estimatePostgresqlCopyTime, selectLargestTables, sumInitialCopySize } from './copy-time-estimate.ts';
import { buildDeepReadReport } from './deep/build-deep-read-report.ts';
import { evaluateServerCheck } from './evaluate-checks.ts';
import { evaluatePostgresqlChecksAfterFixes } from './evaluate-postgresql-checks-after-fixes.ts';
import { openPostgresqlSource, type PostgresqlSourceOpenResult } from './open-postgresql-source.ts';
import { migrationRoleQuery } from './queries/migration-role.ts';
import type { TableSize } from './queries/table-sizes.ts';
import { countSqlStatements } from './run-preflight-queries-in-database.ts';
import type { PostgresqlSourceFacts } from './source-facts.ts';

export interface PostgresqlPreflightRunOptions extends PreflightInput<PostgresqlEndpoint> {
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
  readonly rows: DeepReadReport;
}

export type PostgresqlPreflightEngine = PreflightEngine<
  PostgresqlEndpoint,
  PostgresqlSourceOpenResult,
  CollectedPostgresqlFacts,
  PostgresqlFields
>;

export type PostgresqlPreflightReport = PreflightReport & PostgresqlFields;

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
}: PostgresqlPreflightRunOptions): Promise<PostgresqlPreflightReport> {
  return runPreflight(createPostgresqlPreflightEngine({ checks, concurrency, walInterval }), options);
}

/** The operations of a preflight of a PostgreSQL source. */
export function createPostgresqlPreflightEngine(settings: PostgresqlSpecificPreflightInput): PostgresqlPreflightEngine {
  const { checks } = settings;
  return {
    name: 'postgresql',
    methods: postgresqlMigrationMethods,
    checks,
    open: ({ source, signal, onSend }) =>
      openPostgresqlSource(source, {
        signal,
        onSend: (database, text) => onSend(database, text, countSqlStatements(text)),
      }),
    collectFacts: (opened, run) => collectPostgresqlFacts(opened, run, settings),
    evaluate: (collected, options, ignored) => evaluateChecks(checks, collected, options, ignored),
    effectsEvaluator: (collected, options) => {
      const facts = sourceFacts(collected);
      return (effects) => evaluatePostgresqlChecksAfterFixes(checks, collected, facts, options, effects);
    },
    advise: ({ databases, sizes }, { findings }, conclude, method) =>
      adviseIgnoringDatabases({
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
): EvaluatedPreflightChecks {
  const facts = sourceFacts(collected, ignored);
  const findings = [
    ...checks
      .filter((check): check is PostgresqlServerPreflightCheck => check.scope === 'server')
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
): PostgresqlSourceFacts {
  const names = databases.filter((name) => !ignored.includes(name));
  const copy = facts.connection.kind === 'entered' ? sumInitialCopySize(names, sizes) : undefined;
  return { ...facts, databases: names, access, walRate, copy, lost };
}

function describeSource(
  collected: CollectedPostgresqlFacts,
  { databases }: PreflightConclusion,
  { host, port, dbname, username, ssl }: PostgresqlEndpoint,
): PreflightEngineReport<PostgresqlFields> {
  const { sizes, results } = collected;
  const { connection, copy, address, scans } = sourceFacts(collected);
  const role = getPreflightQueryValue(results, migrationRoleQuery);
  return {
    source: {
      host,
      port,
      dbname,
      username,
      ssl: connection.kind === 'entered' ? connection.ssl : ssl === 'require',
      ...getConnectedSourceAddress(address),
      ...(connection.kind === 'entered' ? { server_version: formatPostgresqlVersion(connection.version) } : {}),
      ...(role === undefined ? {} : { role: { superuser: role.superuser, replication: role.replication } }),
    },
    databases: databases.map((database) => {
      const size = sizes.get(database.name);
      return size === undefined ? database : { ...database, size_bytes: size.databaseBytes, tables: size.tables };
    }),
    estimate: copy === undefined || copy.perDatabase.size === 0 ? undefined : estimatePostgresqlCopyTime(copy),
    extra: { largest_tables: selectLargestTables(sizes), rows: buildDeepReadReport(scans, collected.databases) },
  };
}

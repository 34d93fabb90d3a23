import {
  type ChangedFindings,
  type CheckFinding,
  type DatabaseEffect,
  findingKey,
} from '../../../../src/db/preflight/finding.ts';
import type { PreflightOptions } from '../../../../src/db/preflight/options.ts';
import { evaluateDatabaseChecks, evaluateServerCheck } from '../../../../src/db/preflight/postgresql/check.ts';
import { clientAddressQuery, hbaRulesQuery } from '../../../../src/db/preflight/postgresql/checks/hba-rule.ts';
import { postgresqlChecks } from '../../../../src/db/preflight/postgresql/checks.ts';
import type { CollectedPostgresqlFacts } from '../../../../src/db/preflight/postgresql/collect.ts';
import { resultsForEffects } from '../../../../src/db/preflight/postgresql/fix-effects.ts';
import { databasesQuery } from '../../../../src/db/preflight/postgresql/queries/cluster.ts';
import { migrationRoleQuery } from '../../../../src/db/preflight/postgresql/queries/roles.ts';
import { capacityQuery, settingsQuery } from '../../../../src/db/preflight/postgresql/queries/settings.ts';
import type { AnyPostgresqlQuery, PostgresqlQuery } from '../../../../src/db/preflight/postgresql/query.ts';
import { evaluateAfterFixes } from '../../../../src/db/preflight/postgresql/run.ts';
import type { PostgresqlFacts } from '../../../../src/db/preflight/postgresql/source-facts.ts';
import { simulateFixes } from '../../../../src/db/preflight/run.ts';
import { database, preflightOptions, role, settings, sourceFacts } from './facts.ts';

/** What one query returns instead of what it returns on a healthy source. */
export type Returned = readonly [query: AnyPostgresqlQuery, value: unknown];

export function returns<T>(query: PostgresqlQuery<T>, value: NoInfer<T>): Returned {
  return [query, value];
}

/** A healthy server with the databases d1 and postgres, except for what is given; queries of databases concern d1. */
export function simulated(
  returned: readonly Returned[] = [],
  { facts = {}, options = {} }: { facts?: Partial<PostgresqlFacts>; options?: Partial<PreflightOptions> } = {},
) {
  const source = sourceFacts(facts);
  const chosen = preflightOptions({ targetVersion: '18', targetExtensions: [], ...options });
  const given = new Map<AnyPostgresqlQuery, unknown>([...healthyResults(), ...returned]);
  const resultsOf = (scope: 'server' | 'database', from: ReadonlyMap<AnyPostgresqlQuery, unknown>) => {
    const queries = postgresqlChecks.flatMap(({ queries: own }) => Object.values<AnyPostgresqlQuery>(own));
    return new Map(
      [...new Set(queries)]
        .filter((query) => query.scope === scope)
        .map((query) => [query, { kind: 'known', value: from.has(query) ? from.get(query) : query.absent } as const]),
    );
  };
  const server = resultsOf('server', given);
  const each = source.databases.map((name) => {
    const own = resultsOf('database', name === 'd1' ? given : healthyResults());
    const all = new Map([...server, ...own]);
    const found = evaluateDatabaseChecks(postgresqlChecks, all, name, source, chosen);
    return { name, found, retained: resultsForEffects(postgresqlChecks, found, all) };
  });
  const collected: CollectedPostgresqlFacts = {
    facts: source,
    databases: source.databases,
    access: source.access,
    results: server,
    lost: undefined,
    findings: each.flatMap(({ found }) => found),
    retained: new Map(each.map(({ name, retained }) => [name, retained])),
    sizes: new Map(),
    walRate: source.walRate,
    waited: 0,
  };
  const findings: readonly CheckFinding[] = [
    ...postgresqlChecks.flatMap((check) =>
      check.scope === 'server' ? [evaluateServerCheck(check, server, source, chosen)] : [],
    ),
    ...collected.findings,
  ];
  const evaluate = (effects: readonly DatabaseEffect[]): ChangedFindings =>
    evaluateAfterFixes(postgresqlChecks, collected, source, chosen, effects);
  const simulation = simulateFixes(findings, 'continuous', evaluate);
  return {
    before: findings,
    ...simulation,
    evaluate,
    afterAll: () => afterAll(findings, simulation.findings, evaluate),
  };
}

/** The findings after every fix that the script has, its optional part included. */
function afterAll(
  before: readonly CheckFinding[],
  simulatedFindings: readonly CheckFinding[],
  evaluate: (effects: readonly DatabaseEffect[]) => ChangedFindings,
): readonly CheckFinding[] {
  const effects = before.flatMap(({ fix, database: name }, at) => {
    if (simulatedFindings[at]?.fix?.simulated !== true) return [];
    const restart = fix?.restart === true ? [{ kind: 'restart' } as const] : [];
    return [...restart, ...(fix?.effects ?? [])].map((effect) => ({ effect, database: name }));
  });
  const { changed } = evaluate(effects);
  return before.map((finding) => changed.get(findingKey(finding)) ?? finding);
}

/** The finding of a check: of d1 when it is one of databases. */
export function findingOf(findings: readonly CheckFinding[] | undefined, id: string): CheckFinding {
  const found = findings?.find((one) => one.id === id && (one.database ?? 'd1') === 'd1');
  if (found === undefined) throw new Error(`there is no finding ${id}`);
  return found;
}

export const healthySettings = {
  wal_level: 'logical',
  max_replication_slots: { value: '40' },
  max_wal_senders: { value: '40' },
  max_connections: '100',
  superuser_reserved_connections: '3',
  max_worker_processes: '40',
  max_locks_per_transaction: '64',
  max_prepared_transactions: '0',
  max_slot_wal_keep_size: { value: '-1', unit: 'MB', context: 'sighup' },
  max_wal_size: { value: '1024', unit: 'MB', context: 'sighup' },
  wal_sender_timeout: { value: '300000', unit: 'ms', context: 'user' },
  logical_decoding_work_mem: { value: '262144', unit: 'kB', context: 'user' },
  listen_addresses: '*',
  password_encryption: { value: 'scram-sha-256', context: 'user' },
  temp_file_limit: { value: '-1', unit: 'kB', context: 'superuser' },
  work_mem: { value: '4096', unit: 'kB', context: 'user' },
  synchronous_commit: { value: 'on', context: 'user' },
  synchronous_standby_names: { value: '', context: 'sighup' },
  default_transaction_read_only: { value: 'off', context: 'user' },
  statement_timeout: { value: '0', unit: 'ms', context: 'user' },
  idle_replication_slot_timeout: { value: '0', unit: 's', context: 'sighup' },
  TimeZone: { value: 'UTC', context: 'user' },
  DateStyle: { value: 'ISO, MDY', context: 'user' },
  IntervalStyle: { value: 'postgres', context: 'user' },
};

function healthyResults(): ReadonlyMap<AnyPostgresqlQuery, unknown> {
  return new Map<AnyPostgresqlQuery, unknown>([
    [settingsQuery, settings(healthySettings)],
    [migrationRoleQuery, role()],
    [databasesQuery, [database('d1'), database('postgres')]],
    [capacityQuery, { max: 100, reserved: 3, used: 5 }],
    [clientAddressQuery, '203.0.113.9'],
    [
      hbaRulesQuery,
      [
        {
          line: 1,
          type: 'host',
          databases: ['all'],
          users: ['all'],
          address: 'all',
          netmask: undefined,
          method: 'scram-sha-256',
          options: [],
          error: undefined,
        },
      ],
    ],
  ]);
}

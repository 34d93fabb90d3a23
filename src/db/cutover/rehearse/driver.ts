import { CliError } from '../../../base/errors.ts';
import { maxTextLength } from '../../../base/sanitize.ts';
import { countOf } from '../../../base/text.ts';
import type { ParsedArgs } from '../../../cli/command.ts';
import type { CommandIo } from '../../../cli/command-io.ts';
import type { ProfileSettings } from '../../../config/settings.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { formatVersion } from '../../../postgresql/version.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { defaultLimits, engineSystem, memoryJournal, schemaCopier } from '../../engine/index.ts';
import { replicationName } from '../../engine/tools.ts';
import {
  blockedError,
  modelOf,
  type PreflightOptions,
  type PreflightReport,
  readPreflightOptions,
  renderTerminal,
  runWithFiles,
} from '../../preflight/index.ts';
import type { PostgresqlTarget } from '../../preflight/queries.ts';
import type { DbSource } from '../../source/index.ts';
import { formatSourceName } from '../../watch/record.ts';
import { readPostgresqlOptions, rehearsalInputs, type TargetServer } from '../target.ts';
import { cleanUpPostgres } from './clean-up.ts';
import { lockTarget, type TargetLock } from './existing.ts';
import { inspectPostgresTarget, planRehearsal, type RehearsalPlan, type TargetState } from './plan.ts';
import { postgresSystem, rehearsePostgres } from './postgresql.ts';
import type { RecordFile } from './record.ts';
import { cleanUpRedis, inspectRedisTarget, readRedisRunId, redisSystem, rehearseRedis } from './redis.ts';
import type { RehearsalLeftover, RehearsalParams, RehearsalResult } from './report.ts';

/**
 * The signal ends operations that only read. The signal never ends the removal of objects that the rehearsal created.
 */
type RehearsalEngineDriverDeps = Pick<RehearsalParams, 'clock' | 'env' | 'random' | 'signal'>;

/** The steps of a rehearsal that differ between PostgreSQL and Redis, in the order in which they are called. */
export interface RehearsalDriver {
  /**
   * Connects to the target, and locks it against rehearsals of other machines if it is PostgreSQL. Resolves with the
   * identity of a Redis server, which is the same for every address of it; undefined if it is not known.
   */
  connectTarget(): Promise<string | undefined>;
  /**
   * Removes all objects that the record of a rehearsal lists. `connectTarget` must have been called before.
   * @param how `keep`: the copies stay on the target; `isLate`: the record is of an interrupted rehearsal
   */
  cleanUp(
    file: RecordFile,
    how: { readonly keep: boolean; readonly isLate: boolean },
  ): Promise<readonly RehearsalLeftover[]>;
  /** `system`: the system identifier of the target; empty for Redis. */
  inspectTarget(): Promise<TargetFacts & { readonly system: string }>;
  /** Throws a CliError when the target is not empty. */
  plan(method: 'continuous' | 'dump'): Promise<PlannedChanges>;
  run(file: RecordFile, params: RehearsalParams, method: 'continuous' | 'dump'): Promise<RehearsalResult>;
  /** Releases the lock of the target. */
  close(): Promise<void>;
}

/** The changes that a rehearsal will make on both servers, as clauses of a sentence. */
export interface PlannedChanges {
  readonly onSource: string;
  readonly onTarget: string;
  /** Names of the replication slots that the rehearsal with this id creates. */
  readonly slotsOf: (id: string) => readonly string[];
}

export function postgresDriver(
  source: PostgresqlEndpoint,
  rehearsalTarget: Extract<TargetServer, { engine: 'postgresql' }>,
  ignoreDbs: readonly string[],
  deps: RehearsalEngineDriverDeps,
): RehearsalDriver {
  const readOnlyEngine = engineSystem({
    now: () => deps.clock.now(),
    journal: memoryJournal(),
    schemaCopy: schemaCopier({ env: deps.env }),
    limits: defaultLimits,
  });
  let targetState: TargetState | undefined;
  let plan: RehearsalPlan | undefined;
  let lock: TargetLock | undefined;
  const inspect = async (): Promise<TargetState> => {
    const isTlsFixed = targetState !== undefined || rehearsalTarget.isTlsExplicit;
    const target = targetState?.target ?? rehearsalTarget.source;
    targetState = await inspectPostgresTarget(target, isTlsFixed, readOnlyEngine, deps.signal);
    return targetState;
  };
  const endpoints = () => ({ source, target: targetState?.target ?? rehearsalTarget.source });
  return {
    async connectTarget() {
      const { target } = await inspect();
      const name = formatSourceName({ engine: 'postgresql', host: source.host, port: source.port });
      lock = await lockTarget(target, name, readOnlyEngine, deps.signal);
      return undefined;
    },
    cleanUp: (file, how) => cleanUpPostgres(file, endpoints(), postgresSystem(deps, file, endpoints()), how),
    async inspectTarget() {
      const { server, target } = await inspect();
      const { target: read } = await readPostgresqlOptions(
        { source: target, isTlsExplicit: true },
        rehearsalInputs,
        deps.signal,
      );
      return { version: formatVersion(server.version), postgresql: read?.postgresql, system: server.system };
    },
    async plan(method) {
      plan = await planRehearsal(source, targetState ?? (await inspect()), ignoreDbs, readOnlyEngine, deps.signal);
      const { databases, missing, filled } = plan;
      const count = countOf(databases.length, 'database');
      return {
        onSource:
          method === 'dump'
            ? `reads ${count}`
            : `creates a publication and a replication slot in ${count}; the slots retain WAL`,
        onTarget: [
          ...(missing.length === 0 ? [] : [`creates the databases ${missing.map(({ name }) => name).join(', ')}`]),
          targetState?.server.isSuperuser === true
            ? 'creates the roles of the source and an owner without SUPERUSER for each copy'
            : 'creates the roles of the source',
          ...(filled.length === 0
            ? []
            : [`copies into the empty databases ${filled.map(({ name }) => name).join(', ')}`]),
        ].join(', '),
        slotsOf: (id) => (method === 'dump' ? [] : databases.map(({ oid }) => replicationName(id, oid))),
      };
    },
    async run(file, params, method) {
      if (targetState === undefined || plan === undefined) throw new Error('the rehearsal has no plan');
      return rehearsePostgres({ ...params, endpoints: endpoints(), targetState, plan, file, ignoreDbs, method });
    },
    close: async () => lock?.release(),
  };
}

export function redisDriver(
  source: RedisEndpoint,
  target: RedisEndpoint,
  deps: RehearsalEngineDriverDeps,
): RehearsalDriver {
  const endpoints = { source, target };
  return {
    connectTarget: () => readRedisRunId(target, deps.signal),
    cleanUp: (file, how) => cleanUpRedis(file, endpoints, redisSystem(deps, file, endpoints), how),
    inspectTarget: async () => ({
      ...(await inspectRedisTarget(endpoints, deps.signal)),
      system: '',
    }),
    plan: async () => ({
      onSource: 'sends a full copy to a replica, for which the server forks once',
      onTarget: 'becomes a replica of the source until the rehearsal ends, and is emptied then',
      slotsOf: () => [],
    }),
    async run(file, params) {
      // Between the first inspection and this moment the user has confirmed the rehearsal, which may have taken hours.
      await inspectRedisTarget(endpoints, params.signal);
      return rehearseRedis({ ...params, endpoints, file });
    },
    close: async () => {},
  };
}

/** Options of `db preflight` whose values a rehearsal reads from the target itself. */
export const targetOptions: readonly string[] = [
  'target-version',
  'target-extensions',
  'target-memory',
  'allow-private',
  'judge-as-public',
];

/** What the target reports about itself. */
export interface TargetFacts {
  /** The version of the target, in the form of `--target-version`. */
  readonly version: string;
  /** What a PostgreSQL target reports; absent for Redis, whose modules are not queried. */
  readonly postgresql?: PostgresqlTarget | undefined;
}

/**
 * The options of `db preflight` that follow from the target of the rehearsal. The preflight of a rehearsal checks
 * addresses as seen from this machine.
 */
export function rehearsalPreflightOptions(
  args: ParsedArgs,
  settings: ProfileSettings,
  now: number,
  { source: { host, port }, engine }: TargetServer,
  { version, postgresql }: TargetFacts,
): PreflightOptions {
  return {
    ...readPreflightOptions(withoutOptions(args, targetOptions), engine, settings, now),
    isOverInternet: false,
    targetVersion: version,
    target: { host, port, postgresql },
  };
}

/**
 * Runs the preflight, prints its report on stderr, and chooses the method. Throws a CliError if no migration method is
 * possible.
 */
export async function runRehearsalPreflight(
  io: CommandIo,
  args: ParsedArgs,
  source: DbSource,
  options: PreflightOptions,
): Promise<{ readonly report: PreflightReport; readonly method: 'continuous' | 'dump' }> {
  // In `db rehearse`, --report names the file of the rehearsal report, not of the preflight report.
  const { report } = await runWithFiles(io, withoutOptions(args, ['report', 'sarif-uri', 'baseline']), source, options);
  const plain = (text: string): string => text;
  const styles = { bold: plain, dim: plain, red: plain, yellow: plain };
  await io.output.note(renderTerminal(modelOf(report), styles).trimEnd().split('\n'), maxTextLength);
  if (report.ok && report.method !== 'scan') return { report, method: report.method };
  if (report.ok || (report.verdict === 'scan' && args.value('method') === 'scan')) throw scanNotSupportedError();
  const blockers = report.findings.filter(
    ({ blocks, accepted }) => blocks.includes(report.method) && accepted !== true,
  );
  // What only the staging server lacks says nothing about the migration, so it is no reason to rehearse the dump.
  const isOfTarget = blockers.length > 0 && blockers.every(({ id }) => id.startsWith('target-'));
  if (report.verdict === 'dump' && args.value('method') === undefined && !options.strict && !isOfTarget) {
    await io.output.note('The dump is rehearsed. Do not write to the source until it ends.');
    return { report, method: 'dump' };
  }
  throw blockedError(report, args.value('fix-sql'));
}

function scanNotSupportedError(): CliError {
  return new CliError('preflight_blocked', 'cannot rehearse the method scan: a rehearsal uses replication', {
    detail: 'source and target are unchanged',
    hint: 'run the command without `--method`',
  });
}

function withoutOptions(args: ParsedArgs, hidden: readonly string[]): ParsedArgs {
  return {
    positionals: args.positionals,
    value: (name) => (hidden.includes(name) ? undefined : args.value(name)),
    values: (name) => (hidden.includes(name) ? [] : args.values(name)),
    has: (name) => !hidden.includes(name) && args.has(name),
  };
}

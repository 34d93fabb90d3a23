import { countOf } from '../../base/text.ts';
import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import { formatPostgresqlVersion } from '../../postgresql/version.ts';
import type { RedisEndpoint } from '../../redis/endpoint.ts';
import { defaultLimits, engineSystem } from '../engine/input.ts';

import { memoryJournal } from '../engine/journal.ts';
import { replicationName } from '../engine/postgresql/names.ts';
import { schemaCopier } from '../engine/schema/copy.ts';
import { formatSourceName } from '../watch/watch-record.ts';
import type { MigrationTargetServer } from './migration-target-server.ts';
import { cleanUpPostgresqlRehearsal } from './postgresql/clean-up.ts';
import {
  inspectPostgresRehearsalTarget,
  planRehearsal,
  type RehearsalPlan,
  type RehearsalTargetBeforeChanges,
} from './postgresql/plan.ts';
import { lockPostgresqlRehearsalTarget, type RehearsalTargetLock } from './postgresql/rehearsal-target-lock.ts';
import { createPostgresRehearsalDeps, runPostgresRehearsal } from './postgresql/run.ts';
import { readRedisRunId } from './redis/rehearsal-session.ts';
import {
  cleanUpRedisRehearsal,
  createRedisRehearsalDeps,
  inspectRedisRehearsalTarget,
  runRedisRehearsal,
} from './redis/run.ts';
import type { RehearsalTargetFacts } from './rehearsal-preflight.ts';
import type { RehearsalRecordFile } from './rehearsal-record.ts';
import type { RehearsalLeftover } from './rehearsal-report.ts';
import type { RehearsalRunParams, RehearsalRunResult } from './run-params.ts';

/**
 * The signal ends operations that only read. The signal never ends the removal of objects that the rehearsal created.
 */
export type RehearsalEngineDriverDeps = Pick<RehearsalRunParams, 'clock' | 'env' | 'random' | 'signal'>;

/** The steps of a rehearsal that differ between PostgreSQL and Redis, in the order in which they are called. */
export interface RehearsalEngineDriver {
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
    file: RehearsalRecordFile,
    how: { readonly keep: boolean; readonly isLate: boolean },
  ): Promise<readonly RehearsalLeftover[]>;
  /** `system`: the system identifier of the target; empty for Redis. */
  inspectTarget(): Promise<RehearsalTargetFacts & { readonly system: string }>;
  /** Throws a CliError when the target is not empty. */
  plan(method: 'continuous' | 'dump'): Promise<PlannedRehearsalChanges>;
  run(
    file: RehearsalRecordFile,
    params: RehearsalRunParams,
    method: 'continuous' | 'dump',
  ): Promise<RehearsalRunResult>;
  /** Releases the lock of the target. */
  close(): Promise<void>;
}

/** The changes that a rehearsal will make on both servers, as clauses of a sentence. */
export interface PlannedRehearsalChanges {
  readonly onSource: string;
  readonly onTarget: string;
  /** Names of the replication slots that the rehearsal with this id creates. */
  readonly slotsOf: (id: string) => readonly string[];
}

export function createPostgresqlRehearsalDriver(
  source: PostgresqlEndpoint,
  rehearsalTarget: Extract<MigrationTargetServer, { engine: 'postgresql' }>,
  ignoreDbs: readonly string[],
  deps: RehearsalEngineDriverDeps,
): RehearsalEngineDriver {
  const readOnlyEngine = engineSystem({
    now: () => deps.clock.now(),
    journal: memoryJournal(),
    schemaCopy: schemaCopier({ env: deps.env }),
    limits: defaultLimits,
  });
  let targetState: RehearsalTargetBeforeChanges | undefined;
  let plan: RehearsalPlan | undefined;
  let lock: RehearsalTargetLock | undefined;
  const inspect = async (): Promise<RehearsalTargetBeforeChanges> => {
    const isTlsFixed = targetState !== undefined || rehearsalTarget.isTlsExplicit;
    const target = targetState?.target ?? rehearsalTarget.source;
    targetState = await inspectPostgresRehearsalTarget(target, isTlsFixed, readOnlyEngine, deps.signal);
    return targetState;
  };
  const endpoints = () => ({ source, target: targetState?.target ?? rehearsalTarget.source });
  return {
    async connectTarget() {
      const { target } = await inspect();
      const name = formatSourceName({ engine: 'postgresql', host: source.host, port: source.port });
      lock = await lockPostgresqlRehearsalTarget(target, name, readOnlyEngine, deps.signal);
      return undefined;
    },
    cleanUp: (file, how) =>
      cleanUpPostgresqlRehearsal(file, endpoints(), createPostgresRehearsalDeps(deps, file, endpoints()), how),
    async inspectTarget() {
      const { server, extensions } = await inspect();
      return { version: formatPostgresqlVersion(server.version), extensions, system: server.system };
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
      return runPostgresRehearsal({ ...params, endpoints: endpoints(), targetState, plan, file, ignoreDbs, method });
    },
    close: async () => lock?.release(),
  };
}

export function createRedisRehearsalDriver(
  source: RedisEndpoint,
  target: RedisEndpoint,
  deps: RehearsalEngineDriverDeps,
): RehearsalEngineDriver {
  const endpoints = { source, target };
  return {
    connectTarget: () => readRedisRunId(target, deps.signal),
    cleanUp: (file, how) =>
      cleanUpRedisRehearsal(file, endpoints, createRedisRehearsalDeps(deps, file, endpoints), how),
    inspectTarget: async () => ({
      ...(await inspectRedisRehearsalTarget(endpoints, deps.signal)),
      extensions: undefined,
      system: '',
    }),
    plan: async () => ({
      onSource: 'sends a full copy to a replica, for which the server forks once',
      onTarget: 'becomes a replica of the source until the rehearsal ends, and is emptied then',
      slotsOf: () => [],
    }),
    async run(file, params) {
      // Between the first inspection and this moment the user has confirmed the rehearsal, which may have taken hours.
      await inspectRedisRehearsalTarget(endpoints, params.signal);
      return runRedisRehearsal({ ...params, endpoints, file });
    },
    close: async () => {},
  };
}

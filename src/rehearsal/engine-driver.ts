import { createEngineDependencies } from '../engine/engine-dependencies.ts';
import { defaultEngineLimits } from '../engine/migration-job.ts';
import { createMemoryJournal } from '../engine/migration-journal.ts';
import { replicationObjectName } from '../engine/postgresql/object-names.ts';
import { chooseSchemaCopier } from '../engine/schema/choose-schema-copier.ts';
import type { PostgresqlSource } from '../postgresql/source.ts';
import { formatServerVersion } from '../postgresql/version.ts';
import type { RedisSource } from '../redis/source.ts';
import { cleanUpPostgresql } from './postgresql/clean-up.ts';
import { inspectTarget, planRehearsal, type RehearsalPlan, type TargetState } from './postgresql/plan.ts';
import { createPostgresPorts, runPostgresRehearsal } from './postgresql/run.ts';
import { cleanUpRedis, createRedisPorts, inspectRedisTarget, runRedisRehearsal } from './redis/run.ts';
import type { TargetFacts } from './rehearsal-preflight.ts';
import type { RehearsalRecordFile } from './rehearsal-record.ts';
import type { Leftover } from './rehearsal-report.ts';
import type { RehearsalTarget } from './rehearsal-target.ts';
import type { RehearsalRunParams, RehearsalRunResult } from './run-params.ts';

/** The signal ends the looks before anything is made, and nothing that removes. */
export type EngineDriverDeps = Pick<RehearsalRunParams, 'clock' | 'env' | 'random' | 'signal'>;

/** What a rehearsal does that differs from engine to engine, in this order. */
export interface EngineDriver {
  /** Enters the target. */
  connectTarget(): Promise<void>;
  /** Removes what a record tells of; the target must have been entered. */
  cleanUp(
    file: RehearsalRecordFile,
    how: { readonly keep: boolean; readonly isLate: boolean },
  ): Promise<readonly Leftover[]>;
  inspectTarget(): Promise<TargetFacts & { readonly system: string }>;
  /** What will be made; throws a CliError when the target must not be filled. */
  plan(method: 'continuous' | 'dump'): Promise<PlannedChanges>;
  run(
    file: RehearsalRecordFile,
    course: RehearsalRunParams,
    method: 'continuous' | 'dump',
  ): Promise<RehearsalRunResult>;
}

export interface PlannedChanges {
  readonly onSource: string;
  readonly onTarget: string;
  /** Of the source, as it says it; undefined: it is in the report of the preflight. */
  readonly slotsOf: (id: string) => readonly string[];
}

export function createPostgresqlDriver(
  source: PostgresqlSource,
  into: Extract<RehearsalTarget, { engine: 'postgresql' }>,
  ignoreDbs: readonly string[],
  machine: EngineDriverDeps,
): EngineDriver {
  const looking = createEngineDependencies({
    now: () => machine.clock.now(),
    journal: createMemoryJournal(),
    schemaCopy: chooseSchemaCopier({ env: machine.env }),
    limits: defaultEngineLimits,
  });
  let stage: TargetState | undefined;
  let plan: RehearsalPlan | undefined;
  const enter = async () => {
    stage = await inspectTarget(
      stage?.target ?? into.source,
      stage !== undefined || into.isTlsSaid,
      looking,
      machine.signal,
    );
    return stage;
  };
  const doors = (at: TargetState | undefined) => ({ source, target: at?.target ?? into.source });
  return {
    connectTarget: async () => void (await enter()),
    cleanUp: (file, { keep }) =>
      cleanUpPostgresql(file, doors(stage), createPostgresPorts(machine, file, doors(stage)), keep),
    async inspectTarget() {
      const { server, extensions } = await enter();
      return { version: formatServerVersion(server.version), extensions, system: server.system };
    },
    async plan(method) {
      plan = await planRehearsal(source, stage ?? (await enter()), ignoreDbs, looking, machine.signal);
      const { databases, missing: fresh, filled } = plan;
      const count = databases.length === 1 ? 'one database' : `${databases.length} databases`;
      return {
        onSource:
          method === 'dump'
            ? `reads ${count}`
            : `makes a publication and a replication slot in ${count}; the slots keep WAL`,
        onTarget: [
          ...(fresh.length === 0 ? [] : [`makes the databases ${fresh.map(({ name }) => name).join(', ')}`]),
          'makes the roles of the source',
          ...(filled.length === 0 ? [] : [`fills the empty ${filled.map(({ name }) => name).join(', ')}`]),
        ].join(', '),
        slotsOf: (id) => (method === 'dump' ? [] : databases.map(({ oid }) => replicationObjectName(id, oid))),
      };
    },
    async run(file, course, method) {
      if (stage === undefined || plan === undefined) throw new Error('nothing was planned');
      return runPostgresRehearsal({
        ...course,
        endpoints: doors(stage),
        targetState: stage,
        plan,
        file,
        ignoreDbs,
        method,
      });
    },
  };
}

export function createRedisDriver(source: RedisSource, target: RedisSource, machine: EngineDriverDeps): EngineDriver {
  const doors = { source, target };
  return {
    connectTarget: async () => {},
    cleanUp: (file, how) => cleanUpRedis(file, doors, createRedisPorts(machine, file, doors), how),
    inspectTarget: async () => ({
      ...(await inspectRedisTarget(doors, machine.signal)),
      extensions: undefined,
      system: '',
    }),
    plan: async () => ({
      onSource: 'makes it send all it has to a replica, which forks the server once',
      onTarget: 'makes it that replica until the end, and empties it then',
      slotsOf: () => [],
    }),
    run: (file, course) => runRedisRehearsal({ ...course, endpoints: doors, file }),
  };
}

import { usualWaits } from '../../engine/job.ts';
import { memoryJournal } from '../../engine/journal.ts';
import { machinePorts } from '../../engine/ports.ts';
import { objectName } from '../../engine/postgresql/names.ts';
import { chooseSchemaCopy } from '../../engine/schema/choose.ts';
import type { PostgresSource } from '../../postgresql/source.ts';
import { versionWords } from '../../postgresql/version.ts';
import type { RedisSource } from '../../redis/source.ts';
import type { RecordFile } from '../../rehearsal/record.ts';
import type { Left } from '../../rehearsal/report.ts';
import { cleanPostgresql } from './rehearse-clean.ts';
import type { Course, Played } from './rehearse-course.ts';
import type { Into } from './rehearse-into.ts';
import type { Surveyed } from './rehearse-judge.ts';
import { type Plan, planFor, type Stage, surveyStage } from './rehearse-plan.ts';
import { playPostgresql, portsFor } from './rehearse-postgresql.ts';
import { cleanRedis, playRedis, redisPorts, surveyRedis } from './rehearse-redis.ts';

/** The signal ends the looks before anything is made, and nothing that removes. */
export type Machine = Pick<Course, 'clock' | 'env' | 'random' | 'signal'>;

/** What a rehearsal does that differs from engine to engine, in this order. */
export interface Hands {
  /** Enters the target. */
  open(): Promise<void>;
  /** Removes what a record tells of; the target must have been entered. */
  clean(file: RecordFile, how: { readonly keep: boolean; readonly isLate: boolean }): Promise<readonly Left[]>;
  survey(): Promise<Surveyed & { readonly system: string }>;
  /** What will be made; throws a CliError when the target must not be filled. */
  plan(method: 'continuous' | 'dump'): Promise<Planned>;
  play(file: RecordFile, course: Course, method: 'continuous' | 'dump'): Promise<Played>;
}

export interface Planned {
  readonly onSource: string;
  readonly onTarget: string;
  /** Of the source, as it says it; undefined: it is in the report of the preflight. */
  readonly slotsOf: (id: string) => readonly string[];
}

export function postgresqlHands(
  source: PostgresSource,
  into: Extract<Into, { engine: 'postgresql' }>,
  ignoreDbs: readonly string[],
  machine: Machine,
): Hands {
  const looking = machinePorts({
    now: () => machine.clock.now(),
    journal: memoryJournal(),
    schemaCopy: chooseSchemaCopy({ env: machine.env }),
    waits: usualWaits,
  });
  let stage: Stage | undefined;
  let plan: Plan | undefined;
  const enter = async () => {
    stage = await surveyStage(
      stage?.door ?? into.source,
      stage !== undefined || into.isTlsSaid,
      looking,
      machine.signal,
    );
    return stage;
  };
  const doors = (at: Stage | undefined) => ({ source, target: at?.door ?? into.source });
  return {
    open: async () => void (await enter()),
    clean: (file, { keep }) => cleanPostgresql(file, doors(stage), portsFor(machine, file, doors(stage)), keep),
    async survey() {
      const { server, extensions } = await enter();
      return { version: versionWords(server.version), extensions, system: server.system };
    },
    async plan(method) {
      plan = await planFor(source, stage ?? (await enter()), ignoreDbs, looking, machine.signal);
      const { databases, fresh, filled } = plan;
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
        slotsOf: (id) => (method === 'dump' ? [] : databases.map(({ oid }) => objectName(id, oid))),
      };
    },
    async play(file, course, method) {
      if (stage === undefined || plan === undefined) throw new Error('nothing was planned');
      return playPostgresql({ ...course, doors: doors(stage), stage, plan, file, ignoreDbs, method });
    },
  };
}

export function redisHands(source: RedisSource, target: RedisSource, machine: Machine): Hands {
  const doors = { source, target };
  return {
    open: async () => {},
    clean: (file, how) => cleanRedis(file, doors, redisPorts(machine, file, doors), how),
    survey: async () => ({ ...(await surveyRedis(doors, machine.signal)), extensions: undefined, system: '' }),
    plan: async () => ({
      onSource: 'makes it send all it has to a replica, which forks the server once',
      onTarget: 'makes it that replica until the end, and empties it then',
      slotsOf: () => [],
    }),
    play: (file, course) => playRedis({ ...course, doors, file }),
  };
}

import type { Environment } from '../platform/host.ts';
import { cleanUpFromJournal } from './clean-up-from-journal.ts';
import { connectDataPlane, type DataPlane } from './data-plane.ts';
import { createEngineDependencies } from './engine-dependencies.ts';
import { defaultEngineLimits, type EngineDependencies, type MigrationJob } from './migration-job.ts';
import { createMemoryJournal } from './migration-journal.ts';
import { openMigrationJournal } from './migration-journal-file.ts';
import type { LeftoverObject } from './migration-state.ts';
import { parseRequestedPostgresSource, parseRequestedRedisSource, type RequestedSource } from './requested-source.ts';
import { type RunningMigration, startMigrationJob } from './running-migration.ts';
import { chooseSchemaCopier } from './schema/choose-schema-copier.ts';

export interface MigrationEngineOptions {
  /** The file of the journal; absent: what is made is remembered until the process ends. */
  readonly journal?: string;
  /** Milliseconds of the virtual clock. */
  readonly now: () => number;
  /** Where programs such as pg_dump are looked for; absent: nowhere. */
  readonly env?: Environment;
  readonly ports?: Partial<EngineDependencies>;
}

export interface EngineMigrationRequest {
  readonly id: string;
  readonly plane: DataPlane;
  readonly source: RequestedSource;
  readonly ignoreDbs: readonly string[];
  readonly deadline: number;
  readonly finishWhenIdle: boolean;
  /** Nothing is done before it settles: another migration that is still being ended. */
  readonly after?: Promise<unknown> | undefined;
}

/** Everything a caller needs who knows nothing of servers. */
export interface MigrationEngine {
  openDataPlane(url: string): Promise<DataPlane>;
  /** A sentence: what in the request cannot be meant. */
  start(order: EngineMigrationRequest): RunningMigration | string;
  /** Removes what an earlier process has left behind. Resolves with what could not be removed. */
  cleanUp(): Promise<readonly LeftoverObject[]>;
  /** Stops every migration and waits until nothing of them is left. */
  close(): Promise<void>;
}

export function createMigrationEngine({
  journal: path,
  now,
  env = {},
  ports: own,
}: MigrationEngineOptions): MigrationEngine {
  const file = path === undefined ? undefined : openMigrationJournal(path);
  const ports = createEngineDependencies({
    now,
    journal: file ?? createMemoryJournal(),
    schemaCopy: chooseSchemaCopier({ env }),
    ...own,
  });
  const running = new Set<RunningMigration>();
  const begin = (job: MigrationJob, after: Promise<unknown> | undefined): RunningMigration => {
    const migration = startMigrationJob(job, ports, after);
    running.add(migration);
    void migration.ended.then(() => running.delete(migration));
    return migration;
  };
  return {
    openDataPlane: (url) => connectDataPlane(url, ports),
    start({ plane, source: asked, after, ...order }) {
      if (plane.engine === 'postgresql') {
        const read = parseRequestedPostgresSource(asked);
        return read.ok
          ? begin({ ...order, engine: 'postgresql', source: read.source, target: plane.door }, after)
          : read.message;
      }
      const read = parseRequestedRedisSource(asked);
      return read.ok
        ? begin({ ...order, engine: 'redis', source: read.source, target: plane.door }, after)
        : read.message;
    },
    cleanUp: () =>
      cleanUpFromJournal({
        ...ports,
        limits: { ...ports.limits, removalTimeout: Math.min(ports.limits.removalTimeout, startupRemovalTimeout) },
      }),
    async close() {
      await Promise.all([...running].map((migration) => migration.stop('interrupted')));
      file?.close();
    },
  };
}

/** A source that is gone for good should not keep anybody waiting: it is asked again at the next start. */
const startupRemovalTimeout = Math.min(defaultEngineLimits.removalTimeout, 5000);

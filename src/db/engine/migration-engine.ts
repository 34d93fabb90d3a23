import type { ProcessEnvironment } from '../../platform/host.ts';
import { cleanUpFromMigrationJournal } from './clean-up-from-migration-journal.ts';
import { createMigrationEngineDependencies } from './engine-dependencies.ts';
import type { MigrationLeftoverObject } from './engine-migration-state.ts';
import {
  defaultMigrationEngineTimeLimits,
  type MigrationEngineDependencies,
  type MigrationEngineInput,
} from './migration-engine-input.ts';
import { createMemoryMigrationJournal } from './migration-journal.ts';
import { openMigrationJournal } from './migration-journal-file.ts';
import { type ProbedClusterDatabaseServer, probeClusterDatabaseServer } from './probe-cluster-database-server.ts';
import {
  parseRequestedPostgresSource,
  parseRequestedRedisSource,
  type RequestedMigrationSource,
} from './requested-migration-source.ts';
import { schemaCopier } from './schema/copy.ts';
import { type MigrationEngineRun, startEngineMigration } from './start-engine-migration.ts';

export interface MigrationEngineOptions {
  /** Path of the journal file; absent: created objects are remembered only until the process ends. */
  readonly journal?: string;
  /** Returns milliseconds of the virtual clock of the sandbox. */
  readonly now: () => number;
  /** Environment variables with which pg_dump is found; absent: pg_dump is not used. */
  readonly env?: ProcessEnvironment;
  readonly ports?: Partial<MigrationEngineDependencies>;
}

export interface MigrationEngineStartOptions {
  readonly id: string;
  readonly dataPlane: ProbedClusterDatabaseServer;
  readonly source: RequestedMigrationSource;
  readonly ignoreDbs: readonly string[];
  readonly deadline: number;
  readonly finishWhenIdle: boolean;
  /**
   * Whether to create PostgreSQL objects that only a superuser can create; absent: a schema with such objects is not copied.
   */
  readonly allowSuperuserObjects?: boolean | undefined;
  /** A promise, such as the end of an earlier migration, that must settle before the migration starts. */
  readonly startAfter?: Promise<unknown> | undefined;
}

/** Starts migrations between real servers, for callers without knowledge of PostgreSQL or Redis. */
export interface MigrationEngine {
  openDataPlane(url: string): Promise<ProbedClusterDatabaseServer>;
  /** Returns an error message if the migration request is not valid. */
  start(order: MigrationEngineStartOptions): MigrationEngineRun | string;
  /**
   * Removes the objects that earlier processes created and did not remove. Resolves with the objects that could not be
   * removed.
   */
  cleanUp(): Promise<readonly MigrationLeftoverObject[]>;
  /** Stops every migration and waits until the objects of all migrations are removed. */
  close(): Promise<void>;
}

export function createMigrationEngine({
  journal: path,
  now,
  env = {},
  ports: replaced,
}: MigrationEngineOptions): MigrationEngine {
  const file = path === undefined ? undefined : openMigrationJournal(path);
  const deps = createMigrationEngineDependencies({
    now,
    journal: file ?? createMemoryMigrationJournal(),
    schemaCopy: schemaCopier({ env }),
    ...replaced,
  });
  const planes: ProbedClusterDatabaseServer[] = [];
  const running = new Set<MigrationEngineRun>();
  const startJob = (job: MigrationEngineInput, after: Promise<unknown> | undefined): MigrationEngineRun => {
    const migration = startEngineMigration(job, deps, after);
    running.add(migration);
    void migration.ended.then(() => running.delete(migration));
    return migration;
  };
  return {
    async openDataPlane(url) {
      const plane = await probeClusterDatabaseServer(url, deps);
      planes.push(plane);
      return plane;
    },
    start({ dataPlane, source: requested, startAfter, ...order }) {
      if (dataPlane.engine === 'postgresql') {
        const read = parseRequestedPostgresSource(requested);
        if (!read.ok) return read.message;
        const managedServers = planes.flatMap((one) => (one.engine === 'postgresql' ? [one.endpoint] : []));
        const job = { ...order, engine: 'postgresql', source: read.source, target: dataPlane.endpoint } as const;
        return startJob({ ...job, managedServers }, startAfter);
      }
      const read = parseRequestedRedisSource(requested);
      if (!read.ok) return read.message;
      const managedServers = planes.flatMap((one) => (one.engine === 'redis' ? [one.endpoint] : []));
      const job = { ...order, engine: 'redis', source: read.source, target: dataPlane.endpoint } as const;
      return startJob({ ...job, managedServers }, startAfter);
    },
    cleanUp: () =>
      cleanUpFromMigrationJournal({
        ...deps,
        limits: { ...deps.limits, removalTimeout: Math.min(deps.limits.removalTimeout, startupRemovalTimeout) },
      }),
    async close() {
      await Promise.all([...running].map((migration) => migration.stop('interrupted')));
      file?.close();
    },
  };
}

/**
 * The removal of old objects has a time limit, because a source that no longer exists must not delay the start; the
 * next start tries again.
 */
const startupRemovalTimeout = Math.min(defaultMigrationEngineTimeLimits.removalTimeout, 5000);

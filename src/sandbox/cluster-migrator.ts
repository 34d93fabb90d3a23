import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  createEngine,
  type DataPlane,
  type EngineRun,
  type EngineState,
  isServerSource,
  type Leftover,
  type MigrationEngine,
  type RequestedSource,
} from '../db/engine/index.ts';
import type { NewCluster } from './data.ts';
import { migrationDeadline } from './migration-store.ts';
import type { Cluster, Migration } from './records.ts';
import type { World } from './world.ts';

/** The database server of a cluster; its URL contains a password. */
export interface ClusterServer {
  readonly name: string;
  readonly url: string;
}

/** The database servers of clusters, and the migrations that copy rows into them. */
export interface ClusterMigrator {
  /**
   * The clusters to register. If a cluster with the same name is already registered, the server becomes the server of that
   * cluster.
   */
  readonly clusters: readonly NewCluster[];
  readonly planeOf: (cluster: Cluster) => DataPlane | undefined;
  /**
   * Ends the migrations that an earlier process left unfinished. Resolves with one message for each database object that could
   * not be removed.
   */
  readonly recover: (world: World) => Promise<readonly string[]>;
  /** Starts a migration. If the result is a string, it is the reason why the request is invalid, and no migration was started. */
  readonly start: (migration: Migration, plane: DataPlane, source: RequestedSource, world: World) => string | undefined;
  /** The state of a migration; undefined if another process started it. */
  readonly stateOf: (migration: Migration) => EngineState | undefined;
  /** Stops a migration. The database objects of the stopped migration are removed later, without waiting for it. */
  readonly stop: (migration: Migration) => void;
  /** Stops all migrations before the state of the sandbox is replaced. */
  readonly stopAll: () => void;
  readonly close: () => Promise<void>;
}

export interface MigratorOptions {
  readonly clusters?: readonly ClusterServer[];
  readonly state?: string;
  readonly finishWhenIdle?: boolean;
  readonly allowSuperuserObjects?: boolean;
  readonly now: () => number;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Connects once to every database server. Rejects with an Error that names the cluster whose server cannot be used. */
export async function createMigrator({
  clusters = [],
  state,
  finishWhenIdle = false,
  allowSuperuserObjects = false,
  now,
  env = {},
}: MigratorOptions): Promise<ClusterMigrator> {
  const engine = createEngine({ now, env, ...journalOption(state, clusters.length > 0) });
  const planes = new Map<string, DataPlane>();
  for (const { name, url } of clusters) planes.set(name, await openPlane(engine, name, url));
  const running = new Map<string, EngineRun>();
  /** For each cluster, a promise for the end of its latest migration, because a stopped migration may still be removing objects. */
  const ends = new Map<string, Promise<unknown>>();
  return {
    clusters: [...planes].map(([name, { engine: kind, version }]) => ({ name, engine: kind, version })),
    planeOf: ({ name, engine: kind }) => {
      const plane = planes.get(name);
      return plane?.engine === kind ? plane : undefined;
    },
    recover: async (world) => {
      for (const migration of world.migrations.all())
        if (migration.isReal === true) world.migrations.end(migration, { status: 'error', reason: 'interrupted' });
      return (await engine.cleanUp()).map(describeLeftover);
    },
    start: (migration, plane, source, world) => {
      const managed = [...planes].find(([, one]) => one.engine === plane.engine && isServerSource(source, one));
      if (managed !== undefined)
        return `source.host is the managed cluster ${managed[0]}; a managed cluster cannot be migrated to another one.`;
      const params = {
        id: migration.id,
        dataPlane: plane,
        source,
        ignoreDbs: migration.source.ignoreDbs,
        deadline: migrationDeadline(migration),
        finishWhenIdle,
        allowSuperuserObjects,
        startAfter: ends.get(migration.cluster),
      };
      const started = engine.start(params);
      if (typeof started === 'string') return started;
      running.set(migration.id, started);
      ends.set(migration.cluster, started.ended);
      void started.ended.then(({ status, reason }) => {
        // The next start records a migration that the end of the process interrupted.
        if (status === 'canceled' && reason !== 'interrupted') world.migrations.stop(migration);
        if (status !== 'done' && status !== 'error') return;
        world.migrations.end(migration, { status, ...(reason === undefined ? {} : { reason }) });
      });
      return undefined;
    },
    stateOf: ({ id }) => running.get(id)?.state(),
    stop: ({ id }) => void running.get(id)?.stop(),
    stopAll: () => {
      for (const migration of running.values()) void migration.stop('interrupted');
      running.clear();
    },
    close: () => engine.close(),
  };
}

/** Without clusters and without a journal of an earlier start, the migration engine writes no journal. */
function journalOption(state: string | undefined, hasClusters: boolean): { readonly journal?: string } {
  if (state === undefined) return {};
  const journal = join(state, 'engine');
  return hasClusters || existsSync(journal) ? { journal } : {};
}

async function openPlane(engine: MigrationEngine, name: string, url: string): Promise<DataPlane> {
  try {
    return await engine.openDataPlane(url);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`could not use the data plane of cluster ${name}: ${reason}`);
  }
}

function describeLeftover({ side, database, object, statement, reason }: Leftover): string {
  const where = database === '' ? `the ${side}` : `database ${database} of the ${side}`;
  return `${where} still contains ${object} of a migration, which could not be removed: ${reason}; to remove it, run: ${statement}`;
}

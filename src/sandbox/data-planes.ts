import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DataPlane } from '../engine/data-plane.ts';
import { createMigrationEngine, type MigrationEngine } from '../engine/migration-engine.ts';
import type { LeftoverObject, MigrationState } from '../engine/migration-state.ts';
import type { RequestedSource } from '../engine/requested-source.ts';
import type { RunningMigration as Moving } from '../engine/running-migration.ts';
import { getMigrationDeadline, getMigrationOutcome, markMigrationEnded } from './migration-store.ts';
import type { SandboxCluster, SandboxMigration } from './records.ts';
import type { World } from './world.ts';

/** A server behind a cluster, as the start is told of it; the address holds a password. */
export interface ClusterDataPlane {
  readonly name: string;
  readonly url: string;
}

/** The servers behind clusters, and the migrations that move rows into them. */
export interface DataPlanes {
  /** To be registered; one of a name that is known stands behind the known cluster. */
  readonly clusters: readonly Omit<SandboxCluster, 'uuid'>[];
  readonly planeOf: (cluster: SandboxCluster) => DataPlane | undefined;
  /** Ends what an earlier process has left under way. Resolves with sentences about what could not be removed. */
  readonly recover: (world: World) => Promise<readonly string[]>;
  /** A sentence: what in the request cannot be meant; then nothing was begun. */
  readonly start: (
    migration: SandboxMigration,
    plane: DataPlane,
    source: RequestedSource,
    world: World,
  ) => string | undefined;
  /** How a migration of this process stands. */
  readonly stateOf: (migration: SandboxMigration) => MigrationState | undefined;
  /** Ends one that runs; what is left to remove is removed behind the answer. */
  readonly stop: (migration: SandboxMigration) => void;
  /** Ends all of them, because their world is about to be forgotten. */
  readonly stopAll: () => void;
  readonly close: () => Promise<void>;
}

export interface DataPlanesOptions {
  readonly clusters?: readonly ClusterDataPlane[];
  readonly state?: string;
  readonly finishWhenIdle?: boolean;
  readonly now: () => number;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Enters every server once. Rejects with a sentence that names the one that cannot be used. */
export async function openDataPlanes({
  clusters = [],
  state,
  finishWhenIdle = false,
  now,
  env = {},
}: DataPlanesOptions): Promise<DataPlanes> {
  const engine = createMigrationEngine({ now, env, ...journalOption(state, clusters.length > 0) });
  const planes = new Map<string, DataPlane>();
  for (const { name, url } of clusters) planes.set(name, await openPlane(engine, name, url));
  const moving = new Map<string, Moving>();
  /** A cluster takes one migration at a time, and one that was stopped may still be at it. */
  const busy = new Map<string, Promise<unknown>>();
  return {
    clusters: [...planes].map(([name, { engine: kind, version }]) => ({ name, engine: kind, version })),
    planeOf: ({ name, engine: kind }) => {
      const plane = planes.get(name);
      return plane?.engine === kind ? plane : undefined;
    },
    recover: async (world) => {
      for (const one of world.state.migrationStore.all.rows()) {
        if (one.isReal !== true || getMigrationOutcome(one, world.now()).status !== 'running') continue;
        markMigrationEnded(world.state.migrationStore, one, {
          status: 'error',
          at: world.now(),
          reason: 'interrupted',
        });
      }
      return (await engine.cleanUp()).map(describeLeftover);
    },
    start: (migration, plane, source, world) => {
      const order = {
        id: migration.id,
        dataPlane: plane,
        source,
        ignoreDbs: migration.source.ignoreDbs,
        deadline: getMigrationDeadline(migration),
        finishWhenIdle,
        startAfter: busy.get(migration.cluster),
      };
      const begun = engine.start(order);
      if (typeof begun === 'string') return begun;
      moving.set(migration.id, begun);
      busy.set(migration.cluster, begun.ended);
      void begun.ended.then(({ status, reason }) => {
        if (status !== 'done' && status !== 'error') return;
        const end = { status, at: world.now(), ...(reason === undefined ? {} : { reason }) };
        markMigrationEnded(world.state.migrationStore, migration, end);
      });
      return undefined;
    },
    stateOf: ({ id }) => moving.get(id)?.state(),
    stop: ({ id }) => void moving.get(id)?.stop(),
    stopAll: () => {
      for (const one of moving.values()) void one.stop('interrupted');
      moving.clear();
    },
    close: () => engine.close(),
  };
}

/** A folder without clusters that has never had one is not burdened with a file. */
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
    throw new Error(`the data plane of the cluster ${name} cannot be used: ${reason}`);
  }
}

function describeLeftover({ side, database, object, statement, reason }: LeftoverObject): string {
  const where = database === '' ? `the ${side}` : `database ${database} of the ${side}`;
  return `a migration has left the ${object} in ${where}, which could not be removed (${reason}): ${statement}`;
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createEngine, type Engine } from '../engine/engine.ts';
import type { Migration as Moving } from '../engine/migration.ts';
import type { DataPlane } from '../engine/plane.ts';
import type { RequestedSource } from '../engine/request.ts';
import type { Leftover, MigrationState } from '../engine/state.ts';
import { deadlineOf, endMigration, migrationFate } from './migrations.ts';
import type { Cluster, Migration } from './records.ts';
import type { World } from './world.ts';

/** A server behind a cluster, as the start is told of it; the address holds a password. */
export interface ClusterPlane {
  readonly name: string;
  readonly url: string;
}

/** The servers behind clusters, and the migrations that move rows into them. */
export interface DataPlanes {
  /** To be registered; one of a name that is known stands behind the known cluster. */
  readonly clusters: readonly Omit<Cluster, 'uuid'>[];
  readonly of: (cluster: Cluster) => DataPlane | undefined;
  /** Ends what an earlier process has left under way. Resolves with sentences about what could not be removed. */
  readonly recover: (world: World) => Promise<readonly string[]>;
  /** A sentence: what in the request cannot be meant; then nothing was begun. */
  readonly start: (migration: Migration, plane: DataPlane, source: RequestedSource, world: World) => string | undefined;
  /** How a migration of this process stands. */
  readonly stateOf: (migration: Migration) => MigrationState | undefined;
  /** Ends one that runs; what is left to remove is removed behind the answer. */
  readonly stop: (migration: Migration) => void;
  /** Ends all of them, because their world is about to be forgotten. */
  readonly abandon: () => void;
  readonly close: () => Promise<void>;
}

export interface PlanesOptions {
  readonly clusters?: readonly ClusterPlane[];
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
}: PlanesOptions): Promise<DataPlanes> {
  const engine = createEngine({ now, env, ...journalIn(state, clusters.length > 0) });
  const planes = new Map<string, DataPlane>();
  for (const { name, url } of clusters) planes.set(name, await open(engine, name, url));
  const moving = new Map<string, Moving>();
  /** A cluster takes one migration at a time, and one that was stopped may still be at it. */
  const busy = new Map<string, Promise<unknown>>();
  return {
    clusters: [...planes].map(([name, { engine: kind, version }]) => ({ name, engine: kind, version })),
    of: ({ name, engine: kind }) => {
      const plane = planes.get(name);
      return plane?.engine === kind ? plane : undefined;
    },
    recover: async (world) => {
      for (const one of world.migrations.all.rows()) {
        if (one.isReal !== true || migrationFate(one, world.now()).status !== 'running') continue;
        endMigration(world.migrations, one, { status: 'error', at: world.now(), reason: 'interrupted' });
      }
      return (await engine.cleanUp()).map(sentence);
    },
    start: (migration, plane, source, world) => {
      const order = {
        id: migration.id,
        plane,
        source,
        ignoreDbs: migration.source.ignoreDbs,
        deadline: deadlineOf(migration),
        finishWhenIdle,
        after: busy.get(migration.cluster),
      };
      const begun = engine.start(order);
      if (typeof begun === 'string') return begun;
      moving.set(migration.id, begun);
      busy.set(migration.cluster, begun.ended);
      void begun.ended.then(({ status, reason }) => {
        if (status !== 'done' && status !== 'error') return;
        const end = { status, at: world.now(), ...(reason === undefined ? {} : { reason }) };
        endMigration(world.migrations, migration, end);
      });
      return undefined;
    },
    stateOf: ({ id }) => moving.get(id)?.state(),
    stop: ({ id }) => void moving.get(id)?.stop(),
    abandon: () => {
      for (const one of moving.values()) void one.stop('interrupted');
      moving.clear();
    },
    close: () => engine.close(),
  };
}

/** A folder without clusters that has never had one is not burdened with a file. */
function journalIn(state: string | undefined, hasClusters: boolean): { readonly journal?: string } {
  if (state === undefined) return {};
  const journal = join(state, 'engine');
  return hasClusters || existsSync(journal) ? { journal } : {};
}

async function open(engine: Engine, name: string, url: string): Promise<DataPlane> {
  try {
    return await engine.open(url);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the data plane of the cluster ${name} cannot be used: ${reason}`);
  }
}

function sentence({ side, database, object, statement, reason }: Leftover): string {
  const where = database === '' ? `the ${side}` : `database ${database} of the ${side}`;
  return `a migration has left the ${object} in ${where}, which could not be removed (${reason}): ${statement}`;
}

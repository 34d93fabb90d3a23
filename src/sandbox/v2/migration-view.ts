import type { DatabaseState, MigrationState } from '../../engine/state.ts';
import { deadlineOf, migrationFate } from '../migrations.ts';
import { placeOf } from '../ready.ts';
import type { Cluster, Migration } from '../records.ts';
import type { Service } from '../service.ts';
import { timestamp } from './views.ts';

export interface Standing {
  readonly status: string;
  /** When it ended, and why. */
  readonly endedAt: number | undefined;
  readonly reason: string | undefined;
  /** undefined: no rows are moved, or they were moved by an earlier process. */
  readonly live: MigrationState | undefined;
}

/** What the records say has ended; until then what the engine says. */
export function standingOf(migration: Migration, { world, planes }: Pick<Service, 'world' | 'planes'>): Standing {
  const { status, stop } = migrationFate(migration, world.now());
  const live = planes.stateOf(migration);
  return {
    status: status === 'running' ? (live?.status ?? status) : status,
    endedAt: stop?.at,
    reason: stop?.reason ?? live?.reason,
    live,
  };
}

export function migrationView(migration: Migration, cluster: Cluster, service: Service): object {
  const { status, endedAt, reason, live } = standingOf(migration, service);
  return {
    id: migration.id,
    status,
    created_at: timestamp(migration.startedAt),
    deadline: timestamp(deadlineOf(migration)),
    ...(endedAt === undefined ? {} : { stopped_at: timestamp(endedAt) }),
    ...(reason === undefined ? {} : { reason }),
    data_plane: placeOf(service.planes.of(cluster)),
    ...(live === undefined ? {} : liveView(live)),
  };
}

function liveView({ method, databases, warnings, leftovers }: MigrationState): object {
  return {
    ...(method === undefined ? {} : { method }),
    databases: databases.map(databaseView),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(leftovers.length === 0 ? {} : { leftovers }),
  };
}

function databaseView({ name, phase, method, tables, lagBytes, error, warnings }: DatabaseState): object {
  return {
    name,
    phase,
    ...(method === undefined ? {} : { method }),
    ...(lagBytes === undefined ? {} : { lag_bytes: lagBytes }),
    tables_total: tables.length,
    tables_ready: tables.filter(({ stage }) => stage === 'r').length,
    tables: tables.map((table) => ({ name: table.name, state: table.stage, rows: table.rows })),
    ...(error === undefined ? {} : { error }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

import type { DatabaseState, EngineState } from '../../db/engine/index.ts';
import type { SandboxHandlerContext } from '../handler-context.ts';
import { getSandboxMigrationDeadline, getSandboxMigrationStatusAtTime } from '../migration-store.ts';
import { formatClusterDatabaseServerAddress } from '../ready-line.ts';
import type { SandboxCluster, SandboxMigration } from '../records.ts';
import { formatTimestampInWholeSeconds } from './resource-json.ts';

export interface CurrentSandboxMigrationState {
  readonly status: string;
  /** The end of the migration in milliseconds of the virtual clock; undefined while it runs. */
  readonly endedAt: number | undefined;
  readonly reason: string | undefined;
  /**
   * The state that the migration engine reports; undefined when the cluster has no database server, or when an earlier process
   * ran the migration.
   */
  readonly live: EngineState | undefined;
}

/** The status that the migration engine reports until every database has ended; then the recorded status. */
export function getCurrentSandboxMigrationState(
  migration: SandboxMigration,
  { world, planes }: Pick<SandboxHandlerContext, 'world' | 'planes'>,
): CurrentSandboxMigrationState {
  const { status, stop } = getSandboxMigrationStatusAtTime(migration, world.now());
  const live = planes.stateOf(migration);
  // A migration that was stopped, or whose two weeks are over, still runs while a database is finishing.
  if (live !== undefined && (status === 'running' || isStatusUnderWay(live.status)))
    return { status: live.status, endedAt: undefined, reason: live.reason, live };
  return { status, endedAt: stop?.at, reason: stop?.reason ?? live?.reason, live };
}

/** Whether the migration still replicates, finishes or removes what it created. */
export function isStatusUnderWay(status: string): boolean {
  return status === 'running' || status === 'syncing';
}

export function buildSandboxMigrationJson(
  migration: SandboxMigration,
  cluster: SandboxCluster,
  service: SandboxHandlerContext,
): object {
  const { status, endedAt, reason, live } = getCurrentSandboxMigrationState(migration, service);
  return {
    id: migration.id,
    status,
    created_at: formatTimestampInWholeSeconds(migration.startedAt),
    deadline: formatTimestampInWholeSeconds(getSandboxMigrationDeadline(migration)),
    ...(endedAt === undefined ? {} : { stopped_at: formatTimestampInWholeSeconds(endedAt) }),
    ...(reason === undefined ? {} : { reason }),
    data_plane: formatClusterDatabaseServerAddress(service.planes.planeOf(cluster)),
    ...(live === undefined ? {} : liveView(live)),
  };
}

function liveView({ method, databases, warnings, leftovers }: EngineState): object {
  return {
    ...(method === undefined ? {} : { method }),
    databases: databases.map(databaseView),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(leftovers.length === 0 ? {} : { leftovers }),
  };
}

function databaseView({ name, phase, method, tables, lagBytes, reason, error, warnings }: DatabaseState): object {
  return {
    name,
    phase,
    ...(method === undefined ? {} : { method }),
    ...(lagBytes === undefined ? {} : { lag_bytes: lagBytes }),
    tables_total: tables.length,
    tables_ready: tables.filter(({ stage }) => stage === 'r').length,
    tables: tables.map((table) => ({ name: table.name, state: table.stage, rows: table.rows })),
    ...(reason === undefined ? {} : { reason }),
    ...(error === undefined ? {} : { error }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

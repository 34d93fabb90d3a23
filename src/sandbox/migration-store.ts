import type { SandboxMigration, SandboxMigrationEnd } from './records.ts';
import type { SandboxStateTable } from './state/tables.ts';

/** Stores the online migrations; at most one migration runs for each cluster. */
export interface SandboxMigrationStore {
  readonly all: SandboxStateTable<SandboxMigration>;
  /** The id of the latest migration, by the UUID of the target cluster. */
  readonly latest: Map<string, string>;
}

/** An online migration stops automatically after two weeks (docs/service.md S9.8). */
const MAX_DURATION_MS = 14 * 86_400_000;

export type SandboxMigrationStatus = 'running' | 'canceled' | SandboxMigrationEnd['status'];

/** The status of a migration at an instant of the virtual clock. */
export interface SandboxMigrationStatusAtTime {
  readonly status: SandboxMigrationStatus;
  /** How the migration ended; absent while it runs. The time `at` is in milliseconds of the virtual clock. */
  readonly stop?: { readonly at: number; readonly reason?: string };
}

export function getSandboxMigrationStatusAtTime(
  migration: SandboxMigration,
  now: number,
): SandboxMigrationStatusAtTime {
  const deadline = getSandboxMigrationDeadline(migration);
  const { stoppedAt, ended } = migration;
  if (ended !== undefined && ended.at < deadline) {
    const { status, ...stop } = ended;
    return { status, stop };
  }
  if (stoppedAt !== undefined && stoppedAt < deadline) {
    return { status: 'canceled', stop: { at: stoppedAt, reason: 'stopped_by_user' } };
  }
  return now < deadline
    ? { status: 'running' }
    : { status: 'canceled', stop: { at: deadline, reason: 'max_duration' } };
}

export function getSandboxMigrationDeadline(migration: SandboxMigration): number {
  return migration.startedAt + MAX_DURATION_MS;
}

export function createSandboxMigrationStore(all: SandboxStateTable<SandboxMigration>): SandboxMigrationStore {
  return { all, latest: new Map(all.rows().map(({ cluster, id }) => [cluster, id] as const)) };
}

export function findLatestSandboxMigrationOfCluster(
  { all, latest }: SandboxMigrationStore,
  cluster: string,
): SandboxMigration | undefined {
  return all.get(latest.get(cluster) ?? '');
}

export function isSandboxMigrationRunning(migrations: SandboxMigrationStore, cluster: string, now: number): boolean {
  const latest = findLatestSandboxMigrationOfCluster(migrations, cluster);
  return latest !== undefined && getSandboxMigrationStatusAtTime(latest, now).status === 'running';
}

/** Adds the migration; returns undefined when another migration into the cluster is running. */
export function addSandboxMigrationUnlessOneRuns(
  migrations: SandboxMigrationStore,
  migration: SandboxMigration,
): SandboxMigration | undefined {
  if (isSandboxMigrationRunning(migrations, migration.cluster, migration.startedAt)) return undefined;
  migrations.all.put(migration);
  migrations.latest.set(migration.cluster, migration.id);
  return migration;
}

/** Records that a user stopped the migration. Has no effect on a migration that has ended. */
export function markSandboxMigrationStopped(
  migrations: SandboxMigrationStore,
  migration: SandboxMigration,
  now: number,
): void {
  updateRunning(migrations, migration, now, { stoppedAt: now });
}

/** Records that the migration finished or failed. The call has no effect on a migration that was stopped before. */
export function markSandboxMigrationEnded(
  migrations: SandboxMigrationStore,
  migration: SandboxMigration,
  ended: SandboxMigrationEnd,
): void {
  updateRunning(migrations, migration, ended.at, { ended });
}

function updateRunning(
  { all }: SandboxMigrationStore,
  { id }: SandboxMigration,
  now: number,
  update: Partial<SandboxMigration>,
): void {
  const current = all.get(id);
  if (current === undefined || getSandboxMigrationStatusAtTime(current, now).status !== 'running') return;
  all.put({ ...current, ...update });
}

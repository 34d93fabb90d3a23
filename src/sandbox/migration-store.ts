import type { SandboxMigration, SandboxMigrationEnd } from './records.ts';
import type { StateTable } from './state/state-table.ts';

/** Online migrations. Stores the online migrations; at most one migration runs for each cluster. */
export interface MigrationStore {
  readonly all: StateTable<SandboxMigration>;
  /** The id of the latest migration, by the UUID of the target cluster. */
  readonly latest: Map<string, string>;
}

/** An online migration stops automatically after two weeks (spec §8). */
const MAX_DURATION_MS = 14 * 86_400_000;

export type RecordedMigrationStatus = 'running' | 'canceled' | SandboxMigrationEnd['status'];

/** The status of a migration at an instant of the virtual clock. */
export interface MigrationOutcome {
  readonly status: RecordedMigrationStatus;
  /** How the migration ended; absent while it runs. The time `at` is in milliseconds of the virtual clock. */
  readonly stop?: { readonly at: number; readonly reason?: string };
}

export function getMigrationOutcome(migration: SandboxMigration, now: number): MigrationOutcome {
  const deadline = migration.startedAt + MAX_DURATION_MS;
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

export function getMigrationDeadline(migration: SandboxMigration): number {
  return migration.startedAt + MAX_DURATION_MS;
}

export function createMigrationStore(all: StateTable<SandboxMigration>): MigrationStore {
  return { all, latest: new Map(all.rows().map(({ cluster, id }) => [cluster, id] as const)) };
}

export function latestMigration({ all, latest }: MigrationStore, cluster: string): SandboxMigration | undefined {
  return all.get(latest.get(cluster) ?? '');
}

export function isMigrationRunning(migrations: MigrationStore, cluster: string, now: number): boolean {
  const latest = latestMigration(migrations, cluster);
  return latest !== undefined && getMigrationOutcome(latest, now).status === 'running';
}

/** Adds the migration; returns undefined when another migration into the cluster is running. */
export function addMigration(migrations: MigrationStore, migration: SandboxMigration): SandboxMigration | undefined {
  if (isMigrationRunning(migrations, migration.cluster, migration.startedAt)) return undefined;
  migrations.all.put(migration);
  migrations.latest.set(migration.cluster, migration.id);
  return migration;
}

/** Records that a user stopped the migration. Has no effect on a migration that has ended. */
export function markMigrationStopped(migrations: MigrationStore, migration: SandboxMigration, now: number): void {
  updateRunning(migrations, migration, now, { stoppedAt: now });
}

/** Records that the migration finished or failed. The call has no effect on a migration that was stopped before. */
export function markMigrationEnded(
  migrations: MigrationStore,
  migration: SandboxMigration,
  ended: SandboxMigrationEnd,
): void {
  updateRunning(migrations, migration, ended.at, { ended });
}

function updateRunning(
  { all }: MigrationStore,
  { id }: SandboxMigration,
  now: number,
  update: Partial<SandboxMigration>,
): void {
  const current = all.get(id);
  if (current === undefined || getMigrationOutcome(current, now).status !== 'running') return;
  all.put({ ...current, ...update });
}

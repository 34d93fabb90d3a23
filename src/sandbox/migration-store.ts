import type { SandboxMigration, SandboxMigrationEnd } from './records.ts';
import type { StateTable } from './state/state-table.ts';

/** Online migrations; at most one of a cluster is under way. */
export interface MigrationStore {
  readonly all: StateTable<SandboxMigration>;
  /** Ids of the latest by the cluster they fill. */
  readonly latest: Map<string, string>;
}

/** spec §8: an online migration stops by itself after two weeks. */
const LONGEST_MS = 14 * 86_400_000;

export type RecordedMigrationStatus = 'running' | 'canceled' | SandboxMigrationEnd['status'];

/** How a migration stands at an instant of the virtual clock. */
export interface MigrationOutcome {
  readonly status: RecordedMigrationStatus;
  /** When and why it stopped. */
  readonly stop?: { readonly at: number; readonly reason?: string };
}

export function getMigrationOutcome(migration: SandboxMigration, now: number): MigrationOutcome {
  const deadline = migration.startedAt + LONGEST_MS;
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
  return migration.startedAt + LONGEST_MS;
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

/** undefined while another migration into the cluster runs. */
export function addMigration(migrations: MigrationStore, migration: SandboxMigration): SandboxMigration | undefined {
  if (isMigrationRunning(migrations, migration.cluster, migration.startedAt)) return undefined;
  migrations.all.put(migration);
  migrations.latest.set(migration.cluster, migration.id);
  return migration;
}

/** A migration that has ended stays as it ended. */
export function markMigrationStopped(migrations: MigrationStore, migration: SandboxMigration, now: number): void {
  change(migrations, migration, now, { stoppedAt: now });
}

/** It has ended by itself; one that was stopped before stays stopped. */
export function markMigrationEnded(
  migrations: MigrationStore,
  migration: SandboxMigration,
  ended: SandboxMigrationEnd,
): void {
  change(migrations, migration, ended.at, { ended });
}

function change({ all }: MigrationStore, { id }: SandboxMigration, now: number, what: Partial<SandboxMigration>): void {
  const current = all.get(id);
  if (current === undefined || getMigrationOutcome(current, now).status !== 'running') return;
  all.put({ ...current, ...what });
}

import type { Migration } from './records.ts';

/** Online migrations by the cluster they fill, oldest first; at most one of a cluster is under way. */
export type Migrations = Map<string, Migration[]>;

/** spec §8: an online migration stops by itself after two weeks. */
const LONGEST_MS = 14 * 86_400_000;

export type MigrationStatus = 'running' | 'canceled';

/** How a migration stands at an instant of the virtual clock. */
export interface MigrationFate {
  readonly status: MigrationStatus;
  /** When and why it stopped. */
  readonly stop?: { readonly at: number; readonly reason: 'stopped_by_user' | 'max_duration' };
}

export function migrationFate(migration: Migration, now: number): MigrationFate {
  const deadline = migration.startedAt + LONGEST_MS;
  const { stoppedAt } = migration;
  if (stoppedAt !== undefined && stoppedAt < deadline) {
    return { status: 'canceled', stop: { at: stoppedAt, reason: 'stopped_by_user' } };
  }
  return now < deadline
    ? { status: 'running' }
    : { status: 'canceled', stop: { at: deadline, reason: 'max_duration' } };
}

export function deadlineOf(migration: Migration): number {
  return migration.startedAt + LONGEST_MS;
}

export function latestMigration(migrations: Migrations, cluster: string): Migration | undefined {
  return migrations.get(cluster)?.at(-1);
}

/** undefined while another migration into the cluster runs. */
export function startMigration(migrations: Migrations, migration: Migration): Migration | undefined {
  const own = migrations.get(migration.cluster) ?? [];
  const latest = own.at(-1);
  if (latest !== undefined && migrationFate(latest, migration.startedAt).status === 'running') return undefined;
  own.push(migration);
  migrations.set(migration.cluster, own);
  return migration;
}

/** A migration that has ended stays as it ended. */
export function stopMigration(migrations: Migrations, migration: Migration, now: number): void {
  const own = migrations.get(migration.cluster) ?? [];
  const at = own.findIndex(({ id }) => id === migration.id);
  const current = own[at];
  if (current === undefined || migrationFate(current, now).status !== 'running') return;
  own[at] = { ...current, stoppedAt: now };
}

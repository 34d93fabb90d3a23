import type { Migration, MigrationEnd } from './records.ts';
import type { Table } from './state/table.ts';

/** Online migrations; at most one of a cluster is under way. */
export interface Migrations {
  readonly all: Table<Migration>;
  /** Ids of the latest by the cluster they fill. */
  readonly latest: Map<string, string>;
}

/** spec §8: an online migration stops by itself after two weeks. */
const LONGEST_MS = 14 * 86_400_000;

export type MigrationStatus = 'running' | 'canceled' | MigrationEnd['status'];

/** How a migration stands at an instant of the virtual clock. */
export interface MigrationFate {
  readonly status: MigrationStatus;
  /** When and why it stopped. */
  readonly stop?: { readonly at: number; readonly reason?: string };
}

export function migrationFate(migration: Migration, now: number): MigrationFate {
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

export function deadlineOf(migration: Migration): number {
  return migration.startedAt + LONGEST_MS;
}

export function createMigrations(all: Table<Migration>): Migrations {
  return { all, latest: new Map(all.rows().map(({ cluster, id }) => [cluster, id] as const)) };
}

export function latestMigration({ all, latest }: Migrations, cluster: string): Migration | undefined {
  return all.get(latest.get(cluster) ?? '');
}

export function isUnderWay(migrations: Migrations, cluster: string, now: number): boolean {
  const latest = latestMigration(migrations, cluster);
  return latest !== undefined && migrationFate(latest, now).status === 'running';
}

/** undefined while another migration into the cluster runs. */
export function startMigration(migrations: Migrations, migration: Migration): Migration | undefined {
  if (isUnderWay(migrations, migration.cluster, migration.startedAt)) return undefined;
  migrations.all.put(migration);
  migrations.latest.set(migration.cluster, migration.id);
  return migration;
}

/** A migration that has ended stays as it ended. */
export function stopMigration(migrations: Migrations, migration: Migration, now: number): void {
  change(migrations, migration, now, { stoppedAt: now });
}

/** It has ended by itself; one that was stopped before stays stopped. */
export function endMigration(migrations: Migrations, migration: Migration, ended: MigrationEnd): void {
  change(migrations, migration, ended.at, { ended });
}

function change({ all }: Migrations, { id }: Migration, now: number, what: Partial<Migration>): void {
  const current = all.get(id);
  if (current === undefined || migrationFate(current, now).status !== 'running') return;
  all.put({ ...current, ...what });
}

import type { Migration, MigrationEnd } from './records.ts';
import type { Table } from './state/tables.ts';

/** An online migration stops automatically after two weeks (docs/service.md S9.8). */
const MAX_DURATION_MS = 14 * 86_400_000;

export type MigrationStatus = 'running' | 'canceled' | MigrationEnd['status'];

/** The status of a migration at an instant of the virtual clock. */
export interface MigrationStatusAt {
  readonly status: MigrationStatus;
  /** How the migration ended; absent while it runs. The time `at` is in milliseconds of the virtual clock. */
  readonly stop?: { readonly at: number; readonly reason?: string };
}

export function migrationStatusAt(migration: Migration, now: number): MigrationStatusAt {
  const deadline = migrationDeadline(migration);
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

export function migrationDeadline(migration: Migration): number {
  return migration.startedAt + MAX_DURATION_MS;
}

/** The online migrations; at most one migration runs for each cluster. */
export class MigrationStore {
  readonly #all: Table<Migration>;
  readonly #now: () => number;
  /** The id of the latest migration, by the UUID of the target cluster. */
  readonly #latest: Map<string, string>;

  constructor(all: Table<Migration>, now: () => number) {
    this.#all = all;
    this.#now = now;
    this.#latest = new Map(all.rows().map(({ cluster, id }) => [cluster, id] as const));
  }

  /** Oldest first. */
  all(): readonly Migration[] {
    return this.#all.rows();
  }

  latest(cluster: string): Migration | undefined {
    return this.#all.get(this.#latest.get(cluster) ?? '');
  }

  status(migration: Migration): MigrationStatusAt {
    return migrationStatusAt(migration, this.#now());
  }

  /** Adds the migration; returns undefined when another migration into the cluster is running. */
  add(migration: Migration): Migration | undefined {
    const latest = this.latest(migration.cluster);
    if (latest !== undefined && isRunningAt(latest, migration.startedAt)) return undefined;
    this.#all.put(migration);
    this.#latest.set(migration.cluster, migration.id);
    return migration;
  }

  /** Records that a user stopped the migration. Has no effect on a migration that has ended. */
  stop(migration: Migration): void {
    this.#update(migration, { stoppedAt: this.#now() });
  }

  /** Records that the migration finished or failed. Has no effect on a migration that was stopped before. */
  end(migration: Migration, ended: Omit<MigrationEnd, 'at'>): void {
    this.#update(migration, { ended: { ...ended, at: this.#now() } });
  }

  #update({ id }: Migration, update: Partial<Migration>): void {
    const current = this.#all.get(id);
    if (current !== undefined && isRunningAt(current, this.#now())) this.#all.put({ ...current, ...update });
  }
}

function isRunningAt(migration: Migration, at: number): boolean {
  return migrationStatusAt(migration, at).status === 'running';
}

import type { SandboxMigration, SandboxMigrationEnd } from './records.ts';
import type { SandboxStateTable } from './state/tables.ts';

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

/** The online migrations; at most one migration runs for each cluster. */
export class MigrationStore {
  readonly #all: SandboxStateTable<SandboxMigration>;
  readonly #now: () => number;
  /** The id of the latest migration, by the UUID of the target cluster. */
  readonly #latest: Map<string, string>;

  constructor(all: SandboxStateTable<SandboxMigration>, now: () => number) {
    this.#all = all;
    this.#now = now;
    this.#latest = new Map(all.rows().map(({ cluster, id }) => [cluster, id] as const));
  }

  /** Oldest first. */
  all(): readonly SandboxMigration[] {
    return this.#all.rows();
  }

  latest(cluster: string): SandboxMigration | undefined {
    return this.#all.get(this.#latest.get(cluster) ?? '');
  }

  status(migration: SandboxMigration): SandboxMigrationStatusAtTime {
    return getSandboxMigrationStatusAtTime(migration, this.#now());
  }

  /** Adds the migration; returns undefined when another migration into the cluster is running. */
  add(migration: SandboxMigration): SandboxMigration | undefined {
    const latest = this.latest(migration.cluster);
    if (latest !== undefined && isRunningAt(latest, migration.startedAt)) return undefined;
    this.#all.put(migration);
    this.#latest.set(migration.cluster, migration.id);
    return migration;
  }

  /** Records that a user stopped the migration. Has no effect on a migration that has ended. */
  stop(migration: SandboxMigration): void {
    this.#update(migration, { stoppedAt: this.#now() });
  }

  /** Records that the migration finished or failed. Has no effect on a migration that was stopped before. */
  end(migration: SandboxMigration, ended: Omit<SandboxMigrationEnd, 'at'>): void {
    this.#update(migration, { ended: { ...ended, at: this.#now() } });
  }

  #update({ id }: SandboxMigration, update: Partial<SandboxMigration>): void {
    const current = this.#all.get(id);
    if (current !== undefined && isRunningAt(current, this.#now())) this.#all.put({ ...current, ...update });
  }
}

function isRunningAt(migration: SandboxMigration, at: number): boolean {
  return getSandboxMigrationStatusAtTime(migration, at).status === 'running';
}

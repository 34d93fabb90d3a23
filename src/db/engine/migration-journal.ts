import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import type { RedisEndpoint } from '../../redis/endpoint.ts';

/** The properties of a target database that a migration changes until it ends. */
export interface TargetStateBeforeMigration {
  /** Owner of the target database before the migration. */
  readonly owner: string;
  /** Owner of the schema public; absent if the schema does not exist. */
  readonly publicOwner?: string;
  /** The settings that `ALTER DATABASE … SET` stored, each as `name=value`. */
  readonly settings: readonly string[];
  readonly privileges: readonly GrantedTargetPrivilege[];
}

/** A privilege on the target database or on its schema public. */
export interface GrantedTargetPrivilege {
  readonly kind: 'database' | 'public';
  /** Name of the role that has the privilege; empty: PUBLIC. */
  readonly grantee: string;
  /** Name of the privilege, as `aclexplode` returns it: `CONNECT`. */
  readonly privilege: string;
  readonly grantable: boolean;
}

/**
 * Objects that are about to be created for one PostgreSQL database; `source` and `target` are connections to that
 * database.
 */
export interface PostgresMigrationCleanupEntry {
  readonly engine: 'postgresql';
  /**
   * The common name of the publication, the slot, the subscription and the role that owns the target database, and the
   * application_name of every session that creates them.
   */
  readonly name: string;
  readonly source: PostgresqlEndpoint;
  readonly target: PostgresqlEndpoint;
  /** System identifier of the target; the names of its table synchronization slots end with this identifier. */
  readonly targetSystem: string;
  /**
   * Oid of the subscription, recorded before the subscription is dropped. The names of its table synchronization slots begin
   * with this oid.
   */
  readonly subscriptionOid?: string;
  /** Absent if the migration has no superuser on the target: the owner of the target database is then not changed. */
  readonly former?: TargetStateBeforeMigration;
}

/** A Redis target that is about to become a replica, with the settings it had before. */
export interface RedisMigrationCleanupEntry {
  readonly engine: 'redis';
  readonly name: string;
  readonly source: RedisEndpoint;
  readonly target: RedisEndpoint;
  readonly settings: Readonly<Record<string, string>>;
}

export type MigrationCleanupEntry = PostgresMigrationCleanupEntry | RedisMigrationCleanupEntry;

/** Records created objects, so that another process can remove them after a crash. */
export interface MigrationJournal {
  /** The entry is on the disk when the function returns; only then may the objects be created. */
  recordIntent(entry: MigrationCleanupEntry): void;
  /** Records that the objects of the journal entry with this name have been removed. */
  recordRemoved(name: string): void;
  pending(): readonly MigrationCleanupEntry[];
}

export function createMemoryMigrationJournal(): MigrationJournal {
  const entries = new Map<string, MigrationCleanupEntry>();
  return {
    recordIntent: (entry) => void entries.set(entry.name, entry),
    recordRemoved: (name) => void entries.delete(name),
    pending: () => [...entries.values()],
  };
}

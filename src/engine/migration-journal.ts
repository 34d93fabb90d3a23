import type { PostgresqlSource } from '../postgresql/source.ts';
import type { RedisSource } from '../redis/source.ts';

/** What a migration changes on a target database for its duration. */
export interface FormerTargetState {
  /** Owner of the database. */
  readonly owner: string;
  /** Owner of the schema public; absent: it does not exist. */
  readonly publicOwner?: string;
  /** What `ALTER DATABASE … SET` stored, each as `name=value`. */
  readonly settings: readonly string[];
  /** Absent in entries of earlier versions. */
  readonly privileges?: readonly TargetPrivilege[];
}

/** A privilege on the database or on its schema public. */
export interface TargetPrivilege {
  readonly kind: 'database' | 'public';
  /** Name of a role; empty: PUBLIC. */
  readonly grantee: string;
  /** As `aclexplode` names it: `CONNECT`. */
  readonly privilege: string;
  readonly grantable: boolean;
}

/** Objects that are about to be created for one PostgreSQL database; `source` and `target` both lead to that database. */
export interface PostgresJournalEntry {
  readonly engine: 'postgresql';
  /**
   * Name of the publication, the slot, the subscription and the role that owns the database of the target, and application name
   * of every session that creates them.
   */
  readonly name: string;
  readonly source: PostgresqlSource;
  readonly target: PostgresqlSource;
  /** System identifier of the target: names of its table synchronization slots end with it. */
  readonly targetSystem: string;
  /** Oid of the subscription, recorded before it is dropped: names of its table synchronization slots begin with it. */
  readonly subscriptionOid?: string;
  /** Absent: the database of the target keeps its owner, because the migration has no superuser there. */
  readonly former?: FormerTargetState;
}

/** A Redis target that is about to become a replica, with the settings it had before. */
export interface RedisJournalEntry {
  readonly engine: 'redis';
  readonly name: string;
  readonly source: RedisSource;
  readonly target: RedisSource;
  readonly settings: Readonly<Record<string, string>>;
}

export type MigrationJournalEntry = PostgresJournalEntry | RedisJournalEntry;

/** Records the objects to remove, so that another process can remove them after a crash. */
export interface MigrationJournal {
  /** Durable when it returns; the objects may be created only after that. */
  recordIntent(entry: MigrationJournalEntry): void;
  /** The objects of that name are removed. */
  recordRemoved(name: string): void;
  pending(): readonly MigrationJournalEntry[];
}

export function createMemoryJournal(): MigrationJournal {
  const entries = new Map<string, MigrationJournalEntry>();
  return {
    recordIntent: (entry) => void entries.set(entry.name, entry),
    recordRemoved: (name) => void entries.delete(name),
    pending: () => [...entries.values()],
  };
}

import type { PostgresqlSource } from '../postgresql/source.ts';
import type { RedisSource } from '../redis/source.ts';

/** What is about to be made for one PostgreSQL database. Both doors lead into that database. */
export interface PostgresJournalEntry {
  readonly engine: 'postgresql';
  /** Of the publication, the slot and the subscription, and of every session that makes them. */
  readonly name: string;
  readonly source: PostgresqlSource;
  readonly target: PostgresqlSource;
  /** Of the target: the slots of its initial copies end with it. */
  readonly targetSystem: string;
}

/** A Redis target that is about to follow the source, with the settings it had before. */
export interface RedisJournalEntry {
  readonly engine: 'redis';
  readonly name: string;
  readonly source: RedisSource;
  readonly target: RedisSource;
  readonly settings: Readonly<Record<string, string>>;
}

export type MigrationJournalEntry = PostgresJournalEntry | RedisJournalEntry;

/** Remembers what must be removed, so that it can be removed by whoever comes next. */
export interface MigrationJournal {
  /** Durable when it returns: only then may the objects be made. */
  recordIntent(entry: MigrationJournalEntry): void;
  /** The objects of that name are gone. */
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

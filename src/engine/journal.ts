import type { PostgresSource } from '../postgresql/source.ts';
import type { RedisSource } from '../redis/source.ts';

/** What is about to be made for one PostgreSQL database. Both doors lead into that database. */
export interface PostgresEntry {
  readonly engine: 'postgresql';
  /** Of the publication, the slot and the subscription, and of every session that makes them. */
  readonly name: string;
  readonly source: PostgresSource;
  readonly target: PostgresSource;
  /** Of the target: the slots of its initial copies end with it. */
  readonly targetSystem: string;
}

/** A Redis target that is about to follow the source, with the settings it had before. */
export interface RedisEntry {
  readonly engine: 'redis';
  readonly name: string;
  readonly source: RedisSource;
  readonly target: RedisSource;
  readonly settings: Readonly<Record<string, string>>;
}

export type JournalEntry = PostgresEntry | RedisEntry;

/** Remembers what must be removed, so that it can be removed by whoever comes next. */
export interface Journal {
  /** Durable when it returns: only then may the objects be made. */
  intend(entry: JournalEntry): void;
  /** The objects of that name are gone. */
  cleared(name: string): void;
  pending(): readonly JournalEntry[];
}

export function memoryJournal(): Journal {
  const entries = new Map<string, JournalEntry>();
  return {
    intend: (entry) => void entries.set(entry.name, entry),
    cleared: (name) => void entries.delete(name),
    pending: () => [...entries.values()],
  };
}

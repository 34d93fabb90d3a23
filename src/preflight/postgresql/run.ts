import type { Clock } from '../../platform/host.ts';
import type { PostgresSource } from '../../postgresql/source.ts';
import type { Report, Verdict } from '../report.ts';
import type { Wish } from '../wish.ts';
import type { TableSize } from './asks/sizes.ts';

export interface PreflightOptions {
  readonly source: PostgresSource;
  readonly wish: Wish;
  /** Milliseconds for the whole run; 60 s unless told. */
  readonly deadline?: number;
  /** Connections at once, 8 unless told; a tenth of the free ones is never exceeded. */
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
  readonly clock: Clock;
  /** The closest of the known words, for a misspelt database or check. */
  readonly nearest: (word: string, known: readonly string[]) => string | undefined;
  /** Databases done and all of them. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Hears every message just before it is sent. */
  readonly onQuery?: (database: string, text: string) => void;
  /** Milliseconds between the two readings of the WAL position; 5 s unless told. */
  readonly walInterval?: number;
}

export interface PostgresReport extends Report {
  /** The smallest addition to `ignore_dbs` that makes a better verdict; undefined: there is none. */
  readonly advice?: IgnoreAdvice;
  /** The biggest tables of all databases, biggest first. */
  readonly largest_tables: readonly TableSize[];
}

export interface IgnoreAdvice {
  /** What to add to `ignore_dbs`. */
  readonly ignore_dbs: readonly string[];
  /** What the verdict is then. */
  readonly verdict: Verdict;
}

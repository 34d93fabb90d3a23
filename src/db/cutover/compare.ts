import { usageError } from '../../base/errors.ts';
import type { DbSource } from '../source/index.ts';
import { acceptTables, type DatabaseComparisonOptions, type DatabaseComparisonReport } from './comparison.ts';
import { comparePostgresqlServerContents } from './postgresql/compare.ts';
import { compareRedisServerContents } from './redis/compare.ts';

export interface CompareDatabasesOptions {
  readonly source: DbSource;
  readonly target: DbSource;
  /** Databases of the source that are not compared (PostgreSQL). */
  readonly ignoreDbs: readonly string[];
  readonly clock: DatabaseComparisonOptions['clock'];
  readonly signal: DatabaseComparisonOptions['signal'];
  /** Default: 3. */
  readonly maxRounds?: number;
  /** Default: 10,000. */
  readonly catchUpTimeout?: number;
  readonly onProgress?: DatabaseComparisonOptions['onProgress'];
  /** Tables, as `database:schema.table`, that count as compared when nothing but the user's word settles them. */
  readonly accepted?: readonly string[];
  readonly isQuiet?: boolean;
  readonly isChosen?: NonNullable<DatabaseComparisonOptions['isChosen']>;
}

/**
 * Compares the contents of two servers after a migration. Both servers are only read.
 * @throws CliError `source_unreachable` or `unreachable` (target) when the first connection fails; `usage` for servers
 * of different
 * engines, the same server twice, or unknown databases in `ignoreDbs`
 */
export async function compareDatabases(options: CompareDatabasesOptions): Promise<DatabaseComparisonReport> {
  const { source, target, clock } = options;
  const startedAt = clock.now();
  const { signal, ignoreDbs, maxRounds = 3, catchUpTimeout = 10_000, onProgress = () => {} } = options;
  const { isQuiet = false, isChosen = () => true } = options;
  const limits = { signal, clock, maxRounds, catchUpTimeout, onProgress, isQuiet, isChosen };
  const compared =
    source.engine === 'postgresql' && target.engine === 'postgresql'
      ? await comparePostgresqlServerContents(source.source, target.source, { ...limits, ignoreDbs })
      : source.engine === 'redis' && target.engine === 'redis'
        ? await compareRedisServerContents(source.source, target.source, limits)
        : undefined;
  if (compared === undefined)
    throw usageError('source and target are of different engines', 'give a target of the same engine with `--target`');
  return {
    schema_version: 1,
    engine: source.engine,
    ...acceptTables(compared, options.accepted ?? []),
    started_at: new Date(startedAt).toISOString(),
    seconds: Math.round((clock.now() - startedAt) / 100) / 10,
  };
}

import { type ExitCode, usageError } from '../../base/errors.ts';
import { sanitizeReportLine } from '../../base/sanitize.ts';
import { quoteShellArg } from '../../base/text.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { runUntilSignal } from '../../platform/waiting.ts';
import { type DbSource, readSource, sourceWords, targetUrlText } from '../source/index.ts';
import {
  acceptTables,
  type DatabaseComparisonOptions,
  type DatabaseComparisonReport,
  divideAccepted,
} from './comparison.ts';
import { acceptWords, buildDatabaseComparisonError, printDatabaseComparison } from './comparison-text.ts';
import { comparePostgresqlServerContents } from './postgresql/compare.ts';
import { compareRedisServerContents } from './redis/compare.ts';
import { readTargetServer } from './target.ts';

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

/** Compares source and target, and prints the report. Throws for what differs, or is not proven to be equal. */
export async function runComparison(io: CommandIo, args: ParsedArgs): Promise<ExitCode> {
  const { host, output, progress } = io;
  const { clock, signals } = host;
  const { tables: accepted } = divideAccepted(args.values('accept'), []);
  const source = await readSource(io, args);
  const target = await readTargetServer(io, args, source.engine);
  const ignoreDbs = args.values('ignore-dbs');
  const report = await runUntilSignal(signals, 'the comparison was interrupted', (signal) =>
    compareDatabases({
      ...{ source, target, ignoreDbs, clock, signal, accepted },
      onProgress: ({ database, done, total }) => {
        if (output.format === 'table')
          void progress.show(sanitizeReportLine(`comparing ${database} (${done + 1} of ${total})`));
      },
    }),
  ).finally(() => progress.stop());
  await printDatabaseComparison(io, report);
  if (report.state === 'equal') return 0;
  const from = sourceWords(source, { ignoreDbs, caFile: args.value('ca-file') }).join(' ');
  const to = quoteShellArg(targetUrlText(target));
  throw buildDatabaseComparisonError(report, `cloudctl db compare ${from} --target ${to}${acceptWords(accepted)}`);
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

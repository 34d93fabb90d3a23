import { CliError, type ExitCode, usageError } from '../../base/errors.ts';
import { printableJson } from '../../base/sanitize.ts';
import type { CommandSpec, ParsedArgs } from '../../cli/command.ts';
import { parseDurationToMillisecondsOrThrow } from '../../cli/values.ts';
import type { CommandContext } from '../../context.ts';
import { readRehearsalTarget, type TargetServer } from '../../db/cutover/index.ts';
import {
  buildReport,
  formatLeftover,
  openRehearsal,
  printReport,
  type RehearsalRun,
  rehearsalError,
  rehearsalPreflightOptions,
  runRehearsalPreflight,
  targetOptions,
} from '../../db/cutover/rehearse/index.ts';
import { MigrationError, redactReason } from '../../db/engine/tools.ts';
import { preflightOptionSpecs } from '../../db/preflight/options.ts';
import type { PreflightReport } from '../../db/preflight/report.ts';
import { requireWritable, writeReport } from '../../db/preflight/report-files.ts';
import { reportOptionSpecs } from '../../db/preflight/run-with-files.ts';
import { type DbSource, readSource, sourceOptionSpecs } from '../../db/source/index.ts';
import type { SignalName } from '../../platform/host.ts';
import { DatabaseConnectError } from '../../platform/network-errors.ts';
import { interruptedError } from '../../platform/signals.ts';
import { QueryError } from '../../postgresql/query-error.ts';
import { CommandError } from '../../redis/command-error.ts';

export const dbRehearseCommand: CommandSpec<CommandContext> = {
  description:
    'Rehearses a migration without the service. It runs the preflight, migrates the databases into an empty staging server of yours, and shows the progress as `db watch` does. When all rows are replicated, it counts the rows of every table and compares the sequences on both servers. Then it removes everything that it created. The report lists what would have failed.\n\nDuring the rehearsal every database of the source has a publication and a replication slot, which retains WAL. The target has the databases and roles of the source. With a superuser of the target, a role without SUPERUSER owns each copy, so that no code of the source runs as a superuser there. They are removed at the end, also after Ctrl-C or a failure; the next rehearsal removes what a killed one left, and lists what others may have created. A database of the target that is not empty is an error and is not changed. The target must reach the source under the host name given here. If only a dump is possible, the dump is rehearsed. A Redis target becomes a replica of the source and is emptied at the end.\n\nThe password of the target is read from the address, CLOUDCTL_REHEARSE_INTO_PASSWORD, .pgpass, PGPASSWORD or REDISCLI_AUTH. Exit code 0: the compared data is equal. 1: something would have failed. 5: no data could be proven equal. 3: the migration is not possible, and nothing was changed.',
  options: [
    ...sourceOptionSpecs,
    {
      name: 'into',
      valueName: 'URL',
      description: 'Target server: postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT',
    },
    ...preflightOptionSpecs.filter(({ name }) => !targetOptions.includes(name)),
    { name: 'keep', description: 'Keep the copies on the target' },
    {
      name: 'allow-superuser-objects',
      description:
        'Create objects that need a superuser of the target, such as untrusted extensions and event triggers',
    },
    {
      name: 'stall-timeout',
      valueName: 'DURATION',
      description: 'Time without progress after which the rehearsal fails (default: 60s)',
    },
    { name: 'interval', valueName: 'DURATION', description: 'Polling interval (default: 1s)' },
    { name: 'report', valueName: 'FILE', description: 'Write the report to FILE as JSON', completion: 'file' },
    ...reportOptionSpecs.filter(({ name }) => name === 'fix-sql' || name === 'undo-sql'),
  ],
  examples: [
    {
      text: 'Rehearse into a staging server',
      command:
        'cloudctl db rehearse --source postgres://mover@db.example.com/shop --into postgres://postgres@staging.example.com/postgres',
    },
    {
      text: 'Rehearse in a script and write the report to a file',
      command:
        'CLOUDCTL_REHEARSE_INTO=postgres://… cloudctl db rehearse --source postgres://mover@db.example.com/shop --yes --report rehearsal.json',
    },
    {
      text: 'Rehearse a Redis migration and keep the copy',
      command: 'cloudctl db rehearse --source redis://cache.example.com --into redis://staging.example.com --keep',
    },
  ],
  // The report, and the tables of its rows.
  fields: [
    'schema_version',
    'ok',
    'engine',
    'method',
    'source',
    'target',
    'databases',
    'failures',
    'not_proven',
    'not_compared',
    'violations',
    'warnings',
    'left',
    'kept',
    'preflight',
    'started_at',
    'seconds',
    'database',
    'state',
    'name',
    'rows_source',
    'rows_target',
    'error',
    'columns_not_compared',
  ],
  run: async (context, args) => {
    const { host, globals, prompts } = context;
    const options = readRehearseArgs(args);
    if (!prompts.interactive && !globals.has('yes')) {
      throw usageError(
        'the rehearsal is not confirmed',
        'confirm the rehearsal with `--yes`',
        'a rehearsal creates objects on source and target, and there is no terminal for a prompt',
      );
    }
    const source = await readSource(context, args);
    const target = await readRehearsalTarget(context, {
      typed: args.value('into'),
      engine: source.engine,
      allowCleartextPassword: args.has('allow-cleartext-password'),
    });
    const stopping = new AbortController();
    let signal: SignalName | undefined;
    const stopListening = host.signals.listen((name) => {
      if (signal !== undefined) return;
      signal = name;
      stopping.abort();
    });
    let rehearsal: RehearsalRun | undefined;
    try {
      rehearsal = await openRehearsal(context, { source, target, args, signal: stopping.signal, ...options });
      const facts = await rehearsal.inspectTarget();
      const now = host.clock.now();
      const preflightOptions = rehearsalPreflightOptions(args, context.settings(), now, target, facts);
      const { report, method } = await runRehearsalPreflight(context, args, source, preflightOptions);
      await confirm(context, await rehearsal.plan(method));
      stopping.signal.throwIfAborted();
      return await runAndReport(context, rehearsal, { ...options, target, report, method });
    } catch (error) {
      if (signal === undefined) throw toRehearsalError(error, source, target);
      const leftovers = rehearsal?.leftovers() ?? [];
      throw new CliError('cancelled', 'the rehearsal was interrupted', {
        detail:
          leftovers.length === 0
            ? 'everything that the rehearsal created was removed'
            : leftovers.map(formatLeftover).join('\n'),
        ...(leftovers.length === 0 ? {} : { hint: removeLeftoversHint }),
        exitCode: interruptedError(signal).exitCode,
        cause: error,
      });
    } finally {
      stopListening();
      await rehearsal?.close();
    }
  },
};

const removeLeftoversHint = 'run the same command again to remove the remaining objects';

/**
 * A server that closes a connection or refuses a statement is not a bug of this program, so the error is reported without the
 * code `internal`.
 */
function toRehearsalError(error: unknown, { source }: DbSource, target: TargetServer): unknown {
  const serverErrors = [DatabaseConnectError, QueryError, CommandError, MigrationError];
  if (!serverErrors.some((kind) => error instanceof kind)) return error;
  const reason = redactReason(error, source.password, target.source.password);
  return new CliError('rehearsal_failed', `could not finish the rehearsal: ${reason}`, {
    hint: `check that both servers accept connections, and ${removeLeftoversHint}`,
    cause: error,
  });
}

interface RehearseArgs {
  readonly keep: boolean;
  readonly stallTimeout: number;
  readonly interval: number;
  readonly reportFile: string | undefined;
}

function readRehearseArgs(args: ParsedArgs): RehearseArgs {
  const reportFile = args.value('report');
  if (reportFile !== undefined && !reportFile.toLowerCase().endsWith('.json')) {
    throw usageError(`the report format of ${reportFile} is unknown`, 'use a file name that ends in .json');
  }
  requireWritable(reportFile);
  return {
    keep: args.has('keep'),
    stallTimeout: parseDurationToMillisecondsOrThrow(args.value('stall-timeout') ?? '60s', '--stall-timeout', 1000),
    interval: parseDurationToMillisecondsOrThrow(args.value('interval') ?? '1s', '--interval', 1000),
    reportFile,
  };
}

async function confirm({ prompts, output }: CommandContext, plan: readonly string[]): Promise<void> {
  await output.show(plan);
  if (await prompts.confirm({ message: 'Start the rehearsal?' })) return;
  throw new CliError('cancelled', 'the rehearsal was not started', {
    hint: 'run the command again to start the rehearsal',
  });
}

interface ReportedRun extends RehearseArgs {
  readonly report: PreflightReport;
  readonly target: TargetServer;
  readonly method: 'continuous' | 'dump';
}

async function runAndReport(
  context: CommandContext,
  rehearsal: RehearsalRun,
  { report: preflight, target, method, reportFile, keep }: ReportedRun,
): Promise<ExitCode> {
  const { clock } = context.host;
  const startedAt = clock.now();
  const outcome = await rehearsal.run(method);
  const report = buildReport({
    ...outcome,
    preflight,
    method,
    kept: keep,
    servers: serversOf(preflight, target, rehearsal.targetVersion()),
    startedAt,
    endedAt: clock.now(),
  });
  if (reportFile !== undefined) writeReport(reportFile, printableJson(report));
  await printReport(context, report);
  if (!report.ok) throw rehearsalError(report);
  return 0;
}

function serversOf({ source }: PreflightReport, { source: { host, port } }: TargetServer, version: string) {
  return {
    source: { host: source.host, port: source.port, version: source.server_version ?? 'unknown' },
    target: { host, port, version },
  };
}

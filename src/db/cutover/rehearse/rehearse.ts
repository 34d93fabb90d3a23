import { CliError, type ExitCode, usageError } from '../../../base/errors.ts';
import { printableJson } from '../../../base/sanitize.ts';
import type { ParsedArgs } from '../../../cli/command.ts';
import type { CommandIo } from '../../../cli/command-io.ts';
import { requireDuration } from '../../../cli/values.ts';
import type { ProfileSettings } from '../../../config/settings.ts';
import { ConnectError } from '../../../platform/network-errors.ts';
import { interruptedError, listenForStop } from '../../../platform/signals.ts';
import { QueryError } from '../../../postgresql/query-error.ts';
import { CommandError } from '../../../redis/command-error.ts';
import { MigrationError, redactReason } from '../../engine/tools.ts';
import { requireWritable, writeReport } from '../../preflight/index.ts';
import { type DbSource, readSource } from '../../source/index.ts';
import { readRehearsalTarget, type TargetServer } from '../target.ts';
import { rehearsalPreflightOptions, runRehearsalPreflight } from './driver.ts';
import { buildReport, printReport, rehearsalError } from './output.ts';
import { openRehearsal, type RehearsalRun } from './run.ts';
import { formatLeftover } from './text.ts';

/** Rehearses a migration after a confirmation, and prints its report. Throws what the migration would have failed with. */
export async function rehearse(io: CommandIo, args: ParsedArgs, settings: () => ProfileSettings): Promise<ExitCode> {
  const { host, globals, prompts } = io;
  const given = readArgs(args);
  if (!prompts.interactive && !globals.has('yes')) {
    throw usageError(
      'the rehearsal is not confirmed',
      'confirm the rehearsal with `--yes`',
      'a rehearsal creates objects on source and target, and there is no terminal for a prompt',
    );
  }
  const source = await readSource(io, args);
  const target = await readRehearsalTarget(io, args, source.engine);
  const stopping = listenForStop(host.signals);
  let rehearsal: RehearsalRun | undefined;
  try {
    rehearsal = await openRehearsal(io, { source, target, args, signal: stopping.signal, ...given });
    const facts = await rehearsal.inspectTarget();
    const preflightOptions = rehearsalPreflightOptions(args, settings(), host.clock.now(), target, facts);
    const { report: preflight, method } = await runRehearsalPreflight(io, args, source, preflightOptions);
    await confirm(io, await rehearsal.plan(method));
    stopping.signal.throwIfAborted();
    const startedAt = host.clock.now();
    const outcome = await rehearsal.run(method);
    const { host: sourceHost, port, server_version: version = 'unknown' } = preflight.source;
    const report = buildReport({
      ...{ ...outcome, preflight, method, kept: given.keep, startedAt },
      servers: {
        source: { host: sourceHost, port, version },
        target: { host: target.source.host, port: target.source.port, version: rehearsal.targetVersion() },
      },
      endedAt: host.clock.now(),
    });
    if (given.reportFile !== undefined) writeReport(given.reportFile, printableJson(report));
    await printReport(io, report);
    if (!report.ok) throw rehearsalError(report);
    return 0;
  } catch (error) {
    const heard = stopping.heard();
    if (heard === undefined) throw toRehearsalError(error, source, target);
    const leftovers = rehearsal?.leftovers() ?? [];
    throw new CliError('cancelled', 'the rehearsal was interrupted', {
      detail:
        leftovers.length === 0
          ? 'everything that the rehearsal created was removed'
          : leftovers.map(formatLeftover).join('\n'),
      ...(leftovers.length === 0 ? {} : { hint: removeLeftoversHint }),
      exitCode: interruptedError(heard).exitCode,
      cause: error,
    });
  } finally {
    stopping.stopListening();
    await rehearsal?.close();
  }
}

const removeLeftoversHint = 'run the same command again to remove the remaining objects';

/**
 * A server that closes a connection or refuses a statement is not a bug of this program, so the error is reported without the
 * code `internal`.
 */
function toRehearsalError(error: unknown, { source }: DbSource, target: TargetServer): unknown {
  const serverErrors = [ConnectError, QueryError, CommandError, MigrationError];
  if (!serverErrors.some((kind) => error instanceof kind)) return error;
  const reason = redactReason(error, source.password, target.source.password);
  return new CliError('rehearsal_failed', `could not finish the rehearsal: ${reason}`, {
    hint: `check that both servers accept connections, and ${removeLeftoversHint}`,
    cause: error,
  });
}

interface Given {
  readonly keep: boolean;
  readonly stallTimeout: number;
  readonly interval: number;
  readonly reportFile: string | undefined;
}

function readArgs(args: ParsedArgs): Given {
  const reportFile = args.value('report');
  if (reportFile !== undefined && !reportFile.toLowerCase().endsWith('.json')) {
    throw usageError(`the report format of ${reportFile} is unknown`, 'use a file name that ends in .json');
  }
  requireWritable(reportFile);
  return {
    keep: args.has('keep'),
    stallTimeout: requireDuration(args.value('stall-timeout') ?? '60s', '--stall-timeout', 1000),
    interval: requireDuration(args.value('interval') ?? '1s', '--interval', 1000),
    reportFile,
  };
}

async function confirm({ prompts, output }: CommandIo, plan: readonly string[]): Promise<void> {
  await output.show(plan);
  if (await prompts.confirm({ message: 'Start the rehearsal?' })) return;
  throw new CliError('cancelled', 'the rehearsal was not started', {
    hint: 'run the command again to start the rehearsal',
  });
}

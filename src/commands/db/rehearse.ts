import type { CommandSpec, ParsedArgs } from '../../cli/command.ts';
import { requireDuration } from '../../cli/duration.ts';
import type { Context } from '../../context.ts';
import { type DbSource, readDbSource } from '../../db-source/read-source.ts';
import { MigrationError, redactedReason } from '../../engine/migration-error.ts';
import { CliError, type ExitCode, usageError } from '../../errors.ts';
import { ConnectError } from '../../platform/connect-error.ts';
import { interruptedError } from '../../platform/defer-signals.ts';
import type { SignalName } from '../../platform/host.ts';
import { QueryError } from '../../postgresql/query-error.ts';
import type { PreflightReport } from '../../preflight/report.ts';
import { CommandError } from '../../redis/command-error.ts';
import {
  rehearsalPreflightOptions,
  rehearseOptionSpecs,
  runRehearsalPreflight,
} from '../../rehearsal/rehearsal-preflight.ts';
import { openRehearsalRun, type RehearsalRun } from '../../rehearsal/rehearsal-run.ts';
import { type RehearsalTarget, readRehearsalTarget } from '../../rehearsal/rehearsal-target.ts';
import { leftoverLine } from '../../rehearsal/rehearsal-text.ts';
import {
  buildRehearsalReport,
  rehearsalFailedError,
  showRehearsalReport,
  writeRehearsalReport,
} from '../../rehearsal/report-output.ts';

export const dbRehearseCommand: CommandSpec<Context> = {
  description:
    'A rehearsal without any cloud: the preflight, then the migration for real into an empty staging server of yours, with the progress of `db watch`; when everything has arrived it counts the rows of every table on both sides, compares the sequences, and removes all it made. The report says what would have failed.\n\nWhile it runs there are a publication and a replication slot in every database of the source, which keeps its WAL for them, and on the target the databases and roles of the source. They are removed in the end, after Ctrl-C and a failure as well; what a killed rehearsal left is removed by the next one. Databases of the target that hold anything are never touched. The target must reach the source under the name given here. When only a dump is possible, the dump is rehearsed. Of Redis the target becomes a replica, and is emptied in the end.\n\nThe password of the target is in the address, in CLOUDCTL_REHEARSE_INTO_PASSWORD, in .pgpass or, last, in PGPASSWORD or REDISCLI_AUTH. Exit 0: all equal; 1: something would have failed; 3: not possible, nothing was touched.',
  options: rehearseOptionSpecs,
  examples: [
    {
      text: 'Into a staging server',
      command:
        'cloudctl db rehearse --source postgres://mover@db.example.com/shop --into postgres://postgres@staging.example.com/postgres',
    },
    {
      text: 'In a script, with the report as a file',
      command:
        'CLOUDCTL_REHEARSE_INTO=postgres://… cloudctl db rehearse --source postgres://mover@db.example.com/shop --yes --report rehearsal.json',
    },
    {
      text: 'Redis, and look at the copy afterwards',
      command: 'cloudctl db rehearse --source redis://cache.example.com --into redis://staging.example.com --keep',
    },
  ],
  run: async (context, words) => {
    const { host, globals, prompts } = context;
    const asked = wordsOf(words);
    if (!prompts.interactive && !globals.has('yes')) {
      throw usageError(
        'a rehearsal makes things on source and target, and there is no terminal to ask on',
        'confirm with `--yes`',
      );
    }
    const source = await readDbSource(context, words);
    const into = await readRehearsalTarget(context, words.value('into'), source.engine);
    const end = new AbortController();
    let signal: SignalName | undefined;
    const deaf = host.signals.listen((name) => {
      if (signal !== undefined) return;
      signal = name;
      end.abort();
    });
    let scene: RehearsalRun | undefined;
    try {
      scene = await openRehearsalRun(context, { source, target: into, words, signal: end.signal, ...asked });
      const wish = await rehearsalPreflightOptions(context, words, source, into, await scene.inspectTarget());
      const judged = await runRehearsalPreflight(context, words, source, wish);
      const plan = await scene.plan(judged.method);
      await confirm(context, plan);
      end.signal.throwIfAborted();
      return await act(context, scene, { ...asked, into, ...judged });
    } catch (error) {
      if (signal === undefined) throw worded(error, source, into);
      const left = scene?.left() ?? [];
      throw new CliError('cancelled', 'the rehearsal was ended', {
        detail: left.length === 0 ? 'nothing of it is left' : left.map(leftoverLine).join('\n'),
        ...(left.length === 0 ? {} : { hint: 'run the same command again: it removes first what is left' }),
        exitCode: interruptedError(signal).exitCode,
        cause: error,
      });
    } finally {
      deaf();
      scene?.close();
    }
  },
};

/** A server that went away, or refused, is no bug of the program. */
function worded(error: unknown, { source }: DbSource, into: RehearsalTarget): unknown {
  const kinds = [ConnectError, QueryError, CommandError, MigrationError];
  if (!kinds.some((kind) => error instanceof kind)) return error;
  const reason = redactedReason(error, source.password, into.source.password);
  return new CliError('rehearsal_failed', `the rehearsal broke off: ${reason}`, {
    hint: 'see that both servers answer, and run the same command again: it removes first what is left',
    cause: error,
  });
}

interface Asked {
  readonly keep: boolean;
  readonly stallTimeout: number;
  readonly interval: number;
  readonly reportFile: string | undefined;
}

function wordsOf(words: ParsedArgs): Asked {
  const reportFile = words.value('report');
  if (reportFile !== undefined && !reportFile.toLowerCase().endsWith('.json')) {
    throw usageError(`--report ${reportFile} has an ending that is no format`, 'end it with .json');
  }
  return {
    keep: words.has('keep'),
    stallTimeout: requireDuration(words.value('patience') ?? '60s', '--patience', 1000),
    interval: requireDuration(words.value('interval') ?? '1s', '--interval', 1000),
    reportFile,
  };
}

async function confirm({ prompts, output }: Context, plan: string): Promise<void> {
  await output.show(plan);
  if (await prompts.confirm({ message: 'Begin the rehearsal?' })) return;
  throw new CliError('cancelled', 'the rehearsal was not begun', { hint: 'nothing was touched' });
}

interface Acting extends Asked {
  readonly report: PreflightReport;
  readonly into: RehearsalTarget;
  readonly method: 'continuous' | 'dump';
}

async function act(
  context: Context,
  scene: RehearsalRun,
  { report, into, method, reportFile, keep }: Acting,
): Promise<ExitCode> {
  const begun = context.host.clock.now();
  const played = await scene.run(method);
  const rehearsal = buildRehearsalReport({
    ...played,
    preflight: report,
    method,
    kept: keep,
    places: placesOf(report, into, scene.targetVersion()),
    begun,
    ended: context.host.clock.now(),
  });
  if (reportFile !== undefined) writeRehearsalReport(reportFile, rehearsal);
  await showRehearsalReport(context, rehearsal);
  if (!rehearsal.ok) throw rehearsalFailedError(rehearsal);
  return 0;
}

function placesOf({ source }: PreflightReport, { source: { host, port } }: RehearsalTarget, version: string) {
  return {
    source: { host: source.host, port: source.port, version: source.server_version ?? 'unknown' },
    target: { host, port, version },
  };
}

import {
  describeMigrationFailures,
  isMigrationActive,
  listMigrationFailures,
  type MigrationFailure,
  type OnlineMigration,
} from '../../api/online-migration.ts';
import { CliError, type ExitCode } from '../../base/errors.ts';
import { maxSanitizedTextLength } from '../../base/sanitize.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';
import { interruptedError } from '../../platform/defer-signals.ts';
import type { SignalName } from '../../platform/host.ts';
import { buildQuotedSourceOptionArgs } from '../source/build-quoted-source-option-args.ts';
import type { DbSource } from '../source/read-source.ts';
import { unreachableSourceHint } from '../source/unreachable-source-hint.ts';
import { readWatchedSourceBaselineFile, watchedSourceBaselinePath } from './baseline-file.ts';
import { defaultMigrationWatchLimits } from './migration-watch-limits.ts';
import { helpWithFailures } from './service-failures.ts';
import {
  addServiceStatusToMigrationSample,
  createServiceStatusPoller,
  isMigrationFailedAtService,
  listFailedDatabasesAtService,
} from './service-migration-status.ts';
import type { WatchedSourcePollResult } from './source-watcher.ts';
import type { MigrationStatusSample } from './status-sample.ts';
import { getWatchedSourceAddress, updateSlotsOfWatchRecord } from './update-slots-of-watch-record.ts';
import { openMigrationWatchScreen } from './view/watch-screen.ts';
import {
  formatSourceName,
  getMigrationWatchRecordPath,
  type RecordedMigrationStart,
  readMigrationWatchRecord,
} from './watch-record.ts';
import { pollSourceContinuously } from './watch-source.ts';

export interface WatchMigrationOptions {
  readonly source: DbSource;
  /** Milliseconds between two polls of the source. */
  readonly interval: number;
  /** Whether the watch ends when nothing is left to replicate. */
  readonly untilIdle: boolean;
  readonly ignoreDbs: readonly string[];
  readonly slots: readonly string[];
  readonly showQueries: boolean;
  readonly caFile: string | undefined;
  /**
   * Reads the migration into a cluster from the service; rejects if this run may not query a migration that another
   * account started.
   */
  readonly fetchStatus?: (started: RecordedMigrationStart, signal: AbortSignal) => Promise<OnlineMigration | undefined>;
}

/**
 * Watches a migration and shows its status until the target has received all changes (`untilIdle`), the migration no
 * longer exists, or a signal arrives. Resolves with the exit code; throws a CliError for a source that was never
 * reached and for a migration that has ended.
 * @param watch polls the source
 */
export async function watchMigration(
  io: CommandIo,
  options: WatchMigrationOptions,
  watch: typeof pollSourceContinuously = pollSourceContinuously,
): Promise<ExitCode> {
  const { host, output } = io;
  const { source } = options;
  const stopping = new AbortController();
  let signal: SignalName | undefined;
  const stopListening = host.signals.listen((name) => {
    signal ??= name;
    stopping.abort();
  });
  // A closed stdout ends the watch, because no process reads its output any more.
  host.stdout.closed?.addEventListener('abort', () => stopping.abort());
  const path = getMigrationWatchRecordPath(host.folders.state, getWatchedSourceAddress(source));
  const screen = await openMigrationWatchScreen(
    io,
    formatSourceName(getWatchedSourceAddress(source)),
    options.showQueries,
  );
  let lastPoll: WatchedSourcePollResult | undefined;
  let isCaughtUp = false;
  const record = readMigrationWatchRecord(path);
  let wasReached = record !== undefined;
  let failedPolls = 0;
  const { fetchStatus } = options;
  const started = record?.started;
  const baseline =
    started === undefined
      ? undefined
      : readWatchedSourceBaselineFile(
          watchedSourceBaselinePath(host.folders.state, getWatchedSourceAddress(source), started.cluster),
        );
  const cluster = started?.cluster;
  const poller =
    fetchStatus === undefined || started === undefined
      ? undefined
      : createServiceStatusPoller(
          () => fetchStatus(started, stopping.signal),
          () => host.clock.now(),
        );
  try {
    const watchOptions = {
      clock: host.clock,
      signal: stopping.signal,
      ignoreDbs: options.ignoreDbs,
      slots: options.slots,
      record,
      baseline,
      onSent: (place: string, text: string) => {
        if (options.showQueries) void output.show(`sent to ${place}: ${text}`, maxSanitizedTextLength);
      },
    };
    for await (const result of watch(source, options.interval, watchOptions)) {
      // The watch fails if the source was never reached, because its address is more likely wrong than that it has an
      // outage.
      if (!wasReached && !result.reached) throw sourceUnreachableError(result, options);
      wasReached = true;
      updateSlotsOfWatchRecord(path, source, result);
      const server = poller?.latest();
      const sample =
        cluster === undefined ? result.sample : addServiceStatusToMigrationSample(result.sample, server, cluster);
      await screen.show(sample);
      failedPolls = isMigrationFailedAtService(server) && !isReplicating(sample) ? failedPolls + 1 : 0;
      const failures = listFailedDatabasesAtService(server, options.ignoreDbs);
      if (options.untilIdle && (failures.length > 0 || failedPolls >= maxFailedPolls) && server?.kind === 'known')
        throw failedAtServerError(io, options, { migration: server.migration, failures, cluster: cluster ?? '' });
      if (options.untilIdle) requireSlots(sample);
      if (result.ending !== undefined) lastPoll = result;
      isCaughtUp = options.untilIdle && result.caughtUpPolls >= defaultMigrationWatchLimits.idlePolls;
      if (isCaughtUp) break;
    }
  } finally {
    stopListening();
    // A request for the status that is still pending would keep the process running.
    stopping.abort();
    await screen.close();
  }
  if (isCaughtUp) {
    await output.note(caughtUpText(io, options, record?.started?.cluster), maxSanitizedTextLength);
    return 0;
  }
  if (lastPoll?.ending !== undefined)
    throw new CliError('not_found', lastPoll.ending.message, { hint: lastPoll.ending.hint });
  if (signal === undefined) return 0;
  throw new CliError('cancelled', 'the watch was interrupted; the migration continues', {
    hint: `watch again with \`${watchAgainCommand(io, options)}\`; see what is left to do before the cut-over with \`${cutoverCommand(io, options, cluster)}\``,
    exitCode: interruptedError(signal).exitCode,
  });
}

/** A database whose slot was dropped never catches up, even if others do. */
function requireSlots({ cause }: MigrationStatusSample): void {
  if (cause?.rule !== 'slot-dropped' && cause?.rule !== 'slot-lost') return;
  throw new CliError('not_found', cause.observed, { hint: cause.hint });
}

/**
 * Number of consecutive polls after which the watch ends if the migration failed at the service and the source shows no
 * replication.
 */
const maxFailedPolls = 3;

function isReplicating({ phase }: MigrationStatusSample): boolean {
  return phase === 'copying' || phase === 'catching_up' || phase === 'streaming';
}

function failedAtServerError(
  io: Pick<CommandIo, 'globals'>,
  { source, ignoreDbs, caFile }: WatchMigrationOptions,
  failed: {
    readonly migration: OnlineMigration;
    readonly failures: readonly MigrationFailure[];
    readonly cluster: string;
  },
): CliError {
  const failures = failed.failures.length > 0 ? failed.failures : listMigrationFailures(failed.migration);
  const isActive = isMigrationActive(failed.migration);
  const from = buildQuotedSourceOptionArgs(source, { ignoreDbs, caFile });
  const command = (...words: readonly string[]): string =>
    ['cloudctl db', ...words, ...serviceOptionArgs(io)].join(' ');
  const commands = {
    preflight: command('preflight', ...from),
    stop: command('stop', failed.cluster),
    migrate: command('migrate', failed.cluster, ...from),
  };
  return new CliError('api_error', isActive ? 'a part of the migration has failed' : 'the migration has failed', {
    detail: describeMigrationFailures(failures),
    hint: helpWithFailures(failures, isActive, commands),
  });
}

function sourceUnreachableError(
  { outage = 'it does not respond', outageCode }: WatchedSourcePollResult,
  { source, ignoreDbs, caFile }: WatchMigrationOptions,
): CliError {
  return new CliError('source_unreachable', `could not connect to the source: ${outage}`, {
    hint: unreachableSourceHint(source, outageCode, { ignoreDbs, caFile }),
  });
}

/** The text that tells the user what to do when the target has caught up. */
function caughtUpText(
  io: Pick<CommandIo, 'globals'>,
  options: WatchMigrationOptions,
  cluster: string | undefined,
): readonly string[] {
  return [
    'The target has caught up with the source. Do not stop the application yet.',
    `Next, see what is left to do before the cut-over; the command says when to stop the application: ${cutoverCommand(io, options, cluster)}`,
  ];
}

function cutoverCommand(
  io: Pick<CommandIo, 'globals'>,
  { source, ignoreDbs, caFile }: WatchMigrationOptions,
  cluster: string | undefined,
): string {
  const target = source.engine === 'redis' ? 'rediss://HOST' : 'postgres://USER@HOST:PORT/DBNAME';
  const from = buildQuotedSourceOptionArgs(source, { ignoreDbs, caFile });
  return ['cloudctl db cutover', cluster ?? 'CLUSTER_UUID', ...from, '--target', target, ...serviceOptionArgs(io)].join(
    ' ',
  );
}

/** The command line of this watch, without the password. */
function watchAgainCommand(
  io: Pick<CommandIo, 'globals'>,
  { source, untilIdle, ignoreDbs, slots, caFile }: WatchMigrationOptions,
): string {
  const options = [...slots.flatMap((slot) => ['--slot', quoteShellArg(slot)]), ...(untilIdle ? ['--until-idle'] : [])];
  const from = buildQuotedSourceOptionArgs(source, { ignoreDbs, caFile });
  return ['cloudctl db watch', ...from, ...options, ...serviceOptionArgs(io)].join(' ');
}

/** The options of the command line that select the service. */
function serviceOptionArgs({ globals }: Pick<CommandIo, 'globals'>): readonly string[] {
  return ['profile', 'auth-url', 'base-url'].flatMap((option) => {
    const value = globals.value(option);
    return value === undefined ? [] : [`--${option}`, quoteShellArg(value)];
  });
}

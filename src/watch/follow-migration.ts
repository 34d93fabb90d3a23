import type { OnlineMigration } from '../api/online-migration.ts';
import type { CommandIo } from '../cli/command-io.ts';
import { quoteShellArg } from '../cli/shell-quote.ts';
import type { DbSource } from '../db-source/read-source.ts';
import { sourceOptionArgs } from '../db-source/source-option-args.ts';
import { CliError, type ExitCode } from '../errors.ts';
import { interruptedError } from '../platform/defer-signals.ts';
import type { SignalName } from '../platform/host.ts';
import { maxTextLength } from '../sanitize/terminal-text.ts';
import { defaultMigrationWatchLimits } from './migration-watch-limits.ts';
import { createServerStatusPoller, isFailedAtServer, withServerStatus } from './server-status.ts';
import type { PollResult } from './source-watcher.ts';
import type { StatusSample } from './status-sample.ts';
import { openWatchScreen } from './view/watch-screen.ts';
import {
  formatSourceName,
  type RecordedStart,
  readWatchRecord,
  type SourceIdentity,
  watchRecordPath,
  writeWatchRecord,
} from './watch-record.ts';
import { watchSource } from './watch-source.ts';

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
  readonly fetchStatus?: (started: RecordedStart, signal: AbortSignal) => Promise<OnlineMigration | undefined>;
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
  watch: typeof watchSource = watchSource,
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
  const path = watchRecordPath(host.folders.state, sourceNameOf(source));
  const screen = await openWatchScreen(io, formatSourceName(sourceNameOf(source)), options.showQueries);
  let lastPoll: PollResult | undefined;
  let isIdle = false;
  const record = readWatchRecord(path);
  let wasReached = record !== undefined;
  let failedPolls = 0;
  const { fetchStatus } = options;
  const started = record?.started;
  const cluster = started?.cluster;
  const poller =
    fetchStatus === undefined || started === undefined
      ? undefined
      : createServerStatusPoller(
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
      onSent: (place: string, text: string) => {
        if (options.showQueries) void output.show(`sent to ${place}: ${text}`, maxTextLength);
      },
    };
    for await (const result of watch(source, options.interval, watchOptions)) {
      // The watch fails if the source was never reached, because its address is more likely wrong than that it has an
      // outage.
      if (!wasReached && !result.reached) throw sourceUnreachableError(result);
      wasReached = true;
      tryToSaveRecord(path, source, result);
      const server = poller?.latest();
      const sample = cluster === undefined ? result.sample : withServerStatus(result.sample, server, cluster);
      await screen.show(sample);
      failedPolls = isFailedAtServer(server) && !isReplicating(sample) ? failedPolls + 1 : 0;
      if (options.untilIdle && failedPolls >= maxFailedPolls) throw failedAtServerError(sample, cluster ?? '');
      if (result.ending !== undefined) lastPoll = result;
      isIdle = options.untilIdle && result.idlePolls >= defaultMigrationWatchLimits.idlePolls;
      if (isIdle) break;
    }
  } finally {
    stopListening();
    // A request for the status that is still pending would keep the process running.
    stopping.abort();
    await screen.close();
  }
  if (isIdle) {
    await output.note(idleText(io, options, record?.started?.cluster), maxTextLength);
    return 0;
  }
  if (lastPoll?.ending !== undefined)
    throw new CliError('not_found', lastPoll.ending.message, { hint: lastPoll.ending.hint });
  if (signal === undefined) return 0;
  throw new CliError('cancelled', 'the watch was interrupted; the migration continues', {
    hint: `watch again with \`${watchAgainCommand(options)}\``,
    exitCode: interruptedError(signal).exitCode,
  });
}

/**
 * Number of polls after which the watch ends, if the migration failed at the service and the source shows no
 * replication.
 */
const maxFailedPolls = 3;

function isReplicating({ phase }: StatusSample): boolean {
  return phase === 'copying' || phase === 'catching_up' || phase === 'streaming';
}

function failedAtServerError({ violations, server_status: status }: StatusSample, cluster: string): CliError {
  return new CliError('api_error', 'the migration failed at the service, and nothing is replicated', {
    detail: violations[0]?.observed ?? `status ${status ?? 'unknown'}`,
    hint: `run \`cloudctl db status ${cluster}\`; start again with \`cloudctl db migrate\` when the cause is gone`,
  });
}

function sourceUnreachableError({ outage = 'it does not respond' }: PollResult): CliError {
  return new CliError('source_unreachable', `could not connect to the source: ${outage}`, {
    hint: 'run `cloudctl db preflight` with the same options to find the cause',
  });
}

/** The identity under which the watch record of a source is stored. */
export function sourceNameOf({ engine, source }: DbSource): SourceIdentity {
  const { host, port } = source;
  return { engine, host, port, ...('dbname' in source ? { dbname: source.dbname } : {}) };
}

/** A state folder that is not writable does not end the watch; later watches then have no record of this watch. */
function tryToSaveRecord(path: string, source: DbSource, result: PollResult): void {
  try {
    saveRecord(path, source, result);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

/** Records the slots of the migration, so that the next watch detects slots that were dropped in the meantime. */
function saveRecord(path: string, source: DbSource, { activeSlots, ending, sample }: PollResult): void {
  const record = readWatchRecord(path) ?? { engine: source.engine, source: formatSourceName(sourceNameOf(source)) };
  if (ending !== undefined) {
    const { slots: _slots, firstSeen: _firstSeen, ...rest } = record;
    writeWatchRecord(path, rest);
    return;
  }
  const known = record.slots ?? [];
  const fresh = activeSlots.filter(
    (one) => !known.some((other) => other.name === one.name && other.database === one.database),
  );
  if (fresh.length === 0) return;
  const kept = known.filter(({ database }) => !fresh.some((one) => one.database === database));
  writeWatchRecord(path, {
    ...record,
    firstSeen: record.firstSeen ?? Date.parse(sample.at),
    slots: [...kept, ...fresh],
  });
}

/** The suggested next step after the target has received all changes; `db cutover` if the cluster is known. */
function idleText(
  { globals }: Pick<CommandIo, 'globals'>,
  { source, ignoreDbs, caFile }: WatchMigrationOptions,
  cluster: string | undefined,
): readonly string[] {
  const isRedis = source.engine === 'redis';
  const steps = isRedis
    ? 'The target has caught up with the source. Stop the application, switch it to the target, and stop the migration in the control panel.'
    : 'The target has caught up with the source. At the cut-over stop the application, set the sequences of the target (`cloudctl db sequences`), switch the application to the target, and stop the migration in the control panel.';
  if (cluster === undefined) return [steps];
  const target = isRedis ? 'rediss://HOST' : 'postgres://USER@HOST:25061/DBNAME';
  const service = ['profile', 'auth-url', 'base-url'].flatMap((option) => {
    const value = globals.value(option);
    return value === undefined ? [] : [`--${option}`, quoteShellArg(value)];
  });
  const from = sourceOptionArgs(source, { ignoreDbs, caFile });
  const next = ['cloudctl db cutover', cluster, ...from, '--target', target, ...service];
  return [
    'The target has caught up with the source. Stop the application.',
    `Next, see what is left to do before the cut-over: ${next.join(' ')}`,
  ];
}

/** The command line of this watch, without the password. */
function watchAgainCommand({ source, untilIdle, ignoreDbs, slots, caFile }: WatchMigrationOptions): string {
  const options = [...slots.flatMap((slot) => ['--slot', quoteShellArg(slot)]), ...(untilIdle ? ['--until-idle'] : [])];
  return ['cloudctl db watch', ...sourceOptionArgs(source, { ignoreDbs, caFile }), ...options].join(' ');
}

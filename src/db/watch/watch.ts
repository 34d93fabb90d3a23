import type { Actor } from '../../api/actor.ts';
import {
  describeFailures,
  isMigrationActive,
  listFailures,
  type Migration,
  type MigrationFailure,
} from '../../api/online-migration.ts';
import { CliError, type ExitCode, usageError } from '../../base/errors.ts';
import { maxTextLength, sanitizeLine } from '../../base/sanitize.ts';
import { quoteShellArg } from '../../base/text.ts';
import type { OptionSpec, ParsedArgs } from '../../cli/command.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { requireDuration } from '../../cli/values.ts';
import { interruptedError, listenForStop } from '../../platform/signals.ts';
import { type DbSource, sourceWords, targetWords, unreachableHint } from '../source/index.ts';
import { failureCommands, helpWithFailures, type WarningLine, warningLines } from './failures.ts';
import { confirmIdentity, readServiceWord, type ServiceWord, silentService } from './identity.ts';
import { watchLimits } from './limits.ts';
import {
  formatSourceName,
  loadBaseline,
  pathOfBaseline,
  pathOfRecord,
  type RecordedSlot,
  type RecordedStart,
  readRecord,
  toRecordedSlot,
} from './record.ts';
import { type DatabaseSample, helpWithViolation, type StatusSample } from './sample.ts';
import {
  addServiceStatus,
  createServicePoller,
  hasFailedAtService,
  listFailedDatabases,
  type ServiceStatus,
} from './service.ts';
import { pollSource, sourceAddress, updateBaseline, updateRecordedSlots } from './source.ts';
import { openWatchScreen } from './view/screen.ts';
import type { PollResult } from './watcher.ts';

/** The options that `db watch` and `db migrate --watch` share. */
export const watchOptions: readonly OptionSpec[] = [
  { name: 'interval', valueName: 'DURATION', description: 'Polling interval (default: 2s)' },
  { name: 'until-idle', description: 'End with exit code 0 when the target has caught up with the source' },
  {
    name: 'slot',
    valueName: 'SLOT',
    multiple: 'repeat',
    description: 'Replication slot of the migration, or ADDRESS:PORT of its Redis replica, if it is not proven',
  },
];

export interface WatchOptions {
  readonly source: DbSource;
  /** Milliseconds between two polls of the source. */
  readonly interval: number;
  /** Whether the watch ends when nothing is left to replicate. */
  readonly untilIdle: boolean;
  readonly ignoreDbs: readonly string[];
  readonly slots: readonly string[];
  readonly showQueries: boolean;
  readonly caFile: string | undefined;
  /** A command for the same profile and servers, whose words are quoted for a shell. */
  readonly command: Actor['command'];
  /** Whether this run started the migration, so that the service has just named its id. */
  readonly isNew?: boolean;
  /**
   * Reads the migration into a cluster from the service; rejects if this run may not query a migration that another
   * account started.
   */
  readonly fetchStatus?: (started: RecordedStart, signal: AbortSignal) => Promise<Migration | undefined>;
}

/** Without `--watch`, these options of `db migrate` would have no effect, so they are refused. */
export function requireWatchFlag(args: ParsedArgs): void {
  if (args.has('watch')) return;
  const unused = watchOptions.find(({ name }) => args.values(name).length > 0);
  if (unused !== undefined) throw usageError(`cannot use --${unused.name} without --watch`, 'add `--watch`');
}

export function readWatchOptions(
  args: ParsedArgs,
  source: DbSource,
  { command }: Pick<Actor, 'command'>,
): WatchOptions {
  return {
    source,
    command,
    interval: requireDuration(args.value('interval') ?? '2s', '--interval', 1000),
    untilIdle: args.has('until-idle'),
    ignoreDbs: args.values('ignore-dbs'),
    slots: args.values('slot'),
    showQueries: args.has('show-queries'),
    caFile: args.value('ca-file'),
  };
}

/**
 * Watches a migration and shows its status until the target has received all changes (`untilIdle`), the migration no
 * longer exists, or a signal arrives. Resolves with the exit code; throws a CliError for a source that was never
 * reached and for a migration that has ended.
 * @param watch polls the source
 */
export async function watchMigration(
  io: CommandIo,
  options: WatchOptions,
  watch: typeof pollSource = pollSource,
): Promise<ExitCode> {
  const { host, output } = io;
  const { source } = options;
  // A closed stdout ends the watch, because no process reads its output any more.
  const stopping = listenForStop(host.signals, host.stdout);
  const path = pathOfRecord(host.folders.state, sourceAddress(source));
  const screen = await openWatchScreen(io, formatSourceName(sourceAddress(source)), options.showQueries);
  let lastPoll: PollResult | undefined;
  let isCaughtUp = false;
  let shown: StatusSample | undefined;
  const record = readRecord(path);
  let hasLoggedIn = false;
  let failedPolls = 0;
  // What the service warned of when it was last read: a warning ends when its cause is gone.
  let warnings: readonly WarningLine[] = [];
  const { fetchStatus } = options;
  const started = record?.started;
  const baseline =
    started === undefined
      ? undefined
      : loadBaseline(pathOfBaseline(host.folders.state, sourceAddress(source), started.cluster));
  const cluster = started?.cluster;
  // A recorded identity that was inferred was confirmed when it was recorded.
  const wasConfirmed = options.isNew === true || record?.slots?.some(({ grade }) => grade === 'inferred') === true;
  let word: ServiceWord = { ...silentService, confirmed: wasConfirmed };
  const poller =
    fetchStatus === undefined || started === undefined
      ? undefined
      : createServicePoller(
          () => fetchStatus(started, stopping.signal),
          () => host.clock.now(),
        );
  try {
    const watchOptions = {
      clock: host.clock,
      signal: stopping.signal,
      ignoreDbs: options.ignoreDbs,
      command: options.command,
      slots: options.slots,
      record,
      baseline,
      onSent: (place: string, text: string) => {
        if (options.showQueries) void output.show(`sent to ${place}: ${text}`, maxTextLength);
      },
    };
    for await (const result of watch(source, options.interval, watchOptions)) {
      if (!hasLoggedIn) requireNamedSlots(options, result, record?.slots);
      hasLoggedIn ||= result.reached;
      // The watch fails if no watch ever reached the source, because its address is more likely wrong than that it has an
      // outage, and if its own first login is refused, because its password is more likely wrong than the one of the service.
      if (!hasLoggedIn && (record === undefined || isLoginRefused(result)))
        throw sourceUnreachableError(result, options);
      const isIdle = options.untilIdle && result.caughtUpPolls >= watchLimits.idlePolls;
      poller?.latest();
      // The end of the watch needs the last word of the service; one that does not answer has none. The first status waits a
      // moment for it, which would name the replica as a guess otherwise.
      const wait = isIdle ? serviceWait : shown === undefined ? firstWait : undefined;
      if (wait !== undefined && poller !== undefined)
        await Promise.race([poller.settled(), host.clock.sleep(wait, stopping.signal).catch(() => {})]);
      const server = poller?.latest();
      word = readServiceWord(started?.id, shownMigration(server), word, options.ignoreDbs);
      const sample = confirmSample(
        cluster === undefined
          ? result.sample
          : addServiceStatus(result.sample, server, options.command('db status', cluster), started?.id),
        word,
      );
      shown = sample;
      updateRecordedSlots(path, source, {
        ...result,
        sample,
        activeSlots: confirmSlots(result.activeSlots, word),
      });
      if (result.settled !== undefined && started !== undefined)
        updateBaseline(host.folders.state, source, started, result.settled);
      const former = warnings.map(({ key }) => key);
      warnings = server?.kind === 'known' ? warningLines(server.migration) : warnings;
      if (!screen.isLive) for (const { key, text } of warnings) if (!former.includes(key)) await output.warn(text);
      const notes = [...(sample.notes ?? []), ...warnings.map(({ text }) => text)];
      await screen.show(screen.isLive && notes.length > 0 ? { ...sample, notes } : sample);
      failedPolls = hasFailedAtService(server) && !isReplicating(sample) ? failedPolls + 1 : 0;
      const failures = listFailedDatabases(server, options.ignoreDbs);
      if (options.untilIdle && (failures.length > 0 || failedPolls >= maxFailedPolls) && server?.kind === 'known')
        throw failedAtServerError(options, { migration: server.migration, failures, cluster: cluster ?? '' });
      // What has ended replicates nothing any more; its slots, which may be left, would show a stop that can be repaired.
      if (word.ended && !word.failed && word.denied === undefined && !isReplicating(sample))
        throw endedAtServerError(word, options, cluster ?? '');
      if (options.untilIdle) requireSlots(sample);
      if (result.ending !== undefined) lastPoll = result;
      if (result.ending === undefined && options.untilIdle && isTargetReplaced(sample, result))
        throw notProvenError(options, sample);
      if (!isIdle) continue;
      if (word.failed && server?.kind === 'known')
        throw failedAtServerError(options, { migration: server.migration, failures, cluster: cluster ?? '' });
      if (word.ended) throw endedAtServerError(word, options, cluster ?? '');
      if (sample.identified_by?.grade === 'assumed') throw notProvenError(options, sample);
      if (word.denied !== undefined && sample.identified_by?.by !== '--slot')
        throw notProvenError(options, sample, word.denied);
      // A link that is down may come back.
      isCaughtUp = word.broken === undefined;
      if (isCaughtUp) break;
    }
  } finally {
    stopping.stopListening();
    // A request for the status that is still pending would keep the process running.
    stopping.abort();
    await screen.close();
    // The status screen has cut them off.
    if (screen.isLive) for (const { text } of warnings) await output.warn(text);
  }
  if (isCaughtUp) {
    const isRisky = record?.warned?.includes('replica-identity') === true;
    await output.note(
      [...caughtUpText(io, options, record?.started?.cluster), ...(isRisky ? [riskText] : [])],
      maxTextLength,
    );
    return 0;
  }
  if (lastPoll?.ending !== undefined)
    throw new CliError('not_found', lastPoll.ending.message, { hint: lastPoll.ending.hint });
  const heard = stopping.heard();
  if (heard === undefined) return 0;
  const continues = isKnownToRun(shown, word) ? '; the migration continues' : '';
  const cause = shown?.cause;
  throw new CliError('cancelled', `the watch was interrupted${continues}`, {
    ...(cause === undefined ? {} : { detail: `${cause.rule}: ${cause.observed}` }),
    hint: `${cause === undefined ? '' : `${helpWithViolation(cause)}; then `}watch again with \`${watchAgainCommand(options)}\`; see what is left to do before the cut-over with \`${cutoverCommand(io, options, cluster)}\``,
    exitCode: interruptedError(heard).exitCode,
  });
}

/** Milliseconds for which the end of a watch waits for the service. */
const serviceWait = 10_000;
const firstWait = 2000;

function shownMigration(status: ServiceStatus | undefined): Migration | 'none' | undefined {
  if (status === undefined || status.kind === 'unavailable') return undefined;
  return status.kind === 'none' ? 'none' : status.migration;
}

function confirmSample(sample: StatusSample, word: ServiceWord): StatusSample {
  const databases = sample.databases.map((one): DatabaseSample => {
    const identity = confirmIdentity(one.identified_by, word, one.slot);
    return identity === undefined ? one : { ...one, identified_by: identity };
  });
  // The identity of the sample is the one of a database.
  const at = sample.databases.findIndex(({ identified_by: own }) => own === sample.identified_by);
  const weakest =
    sample.identified_by === undefined ? undefined : (databases[at]?.identified_by ?? sample.identified_by);
  return { ...sample, databases, ...(weakest === undefined ? {} : { identified_by: weakest }) };
}

function confirmSlots(slots: readonly RecordedSlot[], word: ServiceWord): readonly RecordedSlot[] {
  return slots.map((slot) => {
    const { grade, by, system } = slot;
    if (grade === undefined || by === undefined) return slot;
    return toRecordedSlot(slot, confirmIdentity({ grade, by }, word, slot.name), system);
  });
}

/** Whether the replica of the migration is missing while another one, which could be its successor, is connected. */
function isTargetReplaced({ identified_by: identity, phase }: StatusSample, result: PollResult): boolean {
  if (identity?.grade !== 'assumed' || !(phase === 'stalled' || phase === 'gone')) return false;
  return result.reached && (result.missingMs ?? 0) >= watchLimits.suspectedStop;
}

/** Whether something shows that there is a migration, and that it has not ended. */
function isKnownToRun(sample: StatusSample | undefined, { confirmed, denied, broken }: ServiceWord): boolean {
  if (sample === undefined || sample.phase === 'gone' || denied !== undefined || broken !== undefined) return false;
  return confirmed || (sample.identified_by !== undefined && sample.identified_by.grade !== 'assumed');
}

/** The error for a target that may have caught up, but of which nothing proves that it is the one of the migration. */
function notProvenError(options: WatchOptions, { databases }: StatusSample, reason?: string): CliError {
  const isRedis = options.source.engine === 'redis';
  const noun = isRedis ? 'replica' : 'slot';
  const unsure = databases.filter(({ identified_by: identity }) => identity?.grade === 'assumed');
  const listed = unsure.map(({ name, identified_by: identity, slot }) => {
    const candidates = identity?.candidates ?? (slot === undefined ? [] : [slot]);
    const place = isRedis ? '' : `${sanitizeLine(name, 80)}: `;
    const choice = candidates.map((one) => `--slot ${quoteShellArg(one)}`).join(' or ');
    return { candidates, text: `${place}${choice}${identity === undefined ? '' : `, identified by ${identity.by}`}` };
  });
  const parts = [...(reason === undefined ? [] : [reason]), ...listed.map(({ text }) => text)];
  const isClear = listed.every(({ candidates }) => candidates.length === 1);
  const named = isClear ? listed.flatMap(({ candidates }) => candidates) : [];
  const command = watchAgainCommand({ ...options, slots: [...options.slots, ...named] });
  const choose = isClear
    ? `if it belongs to the migration, run \`${command}\``
    : `find out at the target which ${noun} it uses, and add its \`--slot\` to \`${command}\``;
  return new CliError('not_proven', `not proven: nothing shows which ${noun} belongs to the migration`, {
    detail: parts.join('; '),
    hint: choose,
  });
}

/** A database whose slot was dropped never catches up, even if others do. */
function requireSlots({ cause }: StatusSample): void {
  if (cause?.rule !== 'slot-dropped' && cause?.rule !== 'slot-lost') return;
  throw new CliError('not_found', cause.observed, { hint: helpWithViolation(cause) });
}

/**
 * Number of consecutive polls after which the watch ends if the migration failed at the service and the source shows no
 * replication.
 */
const maxFailedPolls = 3;

function isReplicating({ phase }: StatusSample): boolean {
  return phase === 'copying' || phase === 'catching_up' || phase === 'streaming';
}

function failedAtServerError(
  { source, ignoreDbs, caFile, command }: WatchOptions,
  failed: {
    readonly migration: Migration;
    readonly failures: readonly MigrationFailure[];
    readonly cluster: string;
  },
): CliError {
  const failures = failed.failures.length > 0 ? failed.failures : listFailures(failed.migration);
  const isActive = isMigrationActive(failed.migration);
  const from = sourceWords(source, { ignoreDbs, caFile });
  return new CliError('api_error', isActive ? 'a part of the migration has failed' : 'the migration has failed', {
    detail: describeFailures(failures),
    hint: helpWithFailures(failures, isActive, failureCommands({ command }, failed.cluster, from)),
  });
}

function endedAtServerError(
  { broken }: ServiceWord,
  { command, source, ignoreDbs, caFile }: WatchOptions,
  cluster: string,
): CliError {
  const stop = command('db stop', cluster, ...sourceWords(source, { ignoreDbs, caFile }));
  return new CliError('not_found', 'the migration has ended', {
    detail: broken,
    hint: `check that nothing of it is left on the source: run \`${stop}\`, which sends nothing for a migration that has ended`,
  });
}

/** A slot, or replica, that `--slot` names must exist, unless an earlier watch has seen it: then it was dropped since. */
function requireNamedSlots(
  { source, slots, isNew }: WatchOptions,
  { consumers, reached }: PollResult,
  known: readonly RecordedSlot[] = [],
): void {
  if (!reached || consumers === undefined || isNew === true) return;
  const missing = slots.filter((slot) => !consumers.includes(slot) && !known.some(({ name }) => name === slot));
  if (missing.length === 0) return;
  const noun = source.engine === 'redis' ? 'replica' : 'logical replication slot';
  const names = (all: readonly string[]): string => all.map((name) => sanitizeLine(name, 80)).join(', ');
  throw new CliError('not_found', `the source has no ${noun} ${names(missing)}`, {
    detail: consumers.length === 0 ? `it has no ${noun} at all` : `it has: ${names(consumers)}`,
    hint: 'correct `--slot`, or leave it out',
  });
}

function sourceUnreachableError(
  { outage = 'it does not respond', outageCode, sample }: PollResult,
  { source, ignoreDbs, caFile }: WatchOptions,
): CliError {
  // The source was reached, and its answer says what to do.
  const answer = sample.violations.find(({ rule }) => rule === 'source-busy' || rule === 'command-denied');
  if (answer !== undefined)
    return new CliError('source_unreachable', `could not read the source: ${outage}`, { hint: answer.hint });
  return new CliError('source_unreachable', `could not connect to the source: ${outage}`, {
    ...(isLoginRefused({ sample })
      ? { detail: 'this is the login of the watch: it says nothing about a migration, which has its own connections' }
      : {}),
    hint: unreachableHint(source, outageCode, { ignoreDbs, caFile }),
  });
}

function isLoginRefused({ sample }: Pick<PollResult, 'sample'>): boolean {
  return sample.violations.some(({ rule }) => rule === 'login-refused');
}

/** The text that tells the user what to do when the target has caught up. */
function caughtUpText(
  io: Pick<CommandIo, 'host'>,
  options: WatchOptions,
  cluster: string | undefined,
): readonly string[] {
  return [
    'The target has caught up with the source. Do not stop the application yet.',
    `Next, see what is left to do before the cut-over; the command says when to stop the application: ${cutoverCommand(io, options, cluster)}`,
  ];
}

const riskText =
  'Until the migration has ended, UPDATE and DELETE fail on the source for the tables that the preflight named (replica-identity).';

function cutoverCommand(
  { host }: Pick<CommandIo, 'host'>,
  { source, ignoreDbs, caFile, command }: WatchOptions,
  cluster: string | undefined,
): string {
  const from = sourceWords(source, { ignoreDbs, caFile });
  return command('db cutover', cluster ?? 'CLUSTER_UUID', ...from, ...targetWords(host.env));
}

/** The command line of this watch, without the password. */
function watchAgainCommand({ source, untilIdle, ignoreDbs, slots, caFile, command }: WatchOptions): string {
  const options = [...slots.flatMap((slot) => ['--slot', quoteShellArg(slot)]), ...(untilIdle ? ['--until-idle'] : [])];
  return command('db watch', ...sourceWords(source, { ignoreDbs, caFile }), ...options);
}

import { existsSync } from 'node:fs';
import type { ApiClient } from '../api/client.ts';
import { CliError, type ExitCode } from '../base/errors.ts';
import { countOf, formatDuration, quoteShellArg } from '../base/text.ts';
import type { ParsedArgs } from '../cli/command.ts';
import type { CommandIo } from '../cli/command-io.ts';
import { interruptedError } from '../platform/signals.ts';
import { missingError, namesWithIds, newBatchHint, readMissing, repeatedOptions } from './again.ts';
import { describeOlderDuplicates, recordDuplicates, recordExisting } from './existing.ts';
import { type BatchIo, listenForInterruption, type Run } from './io.ts';
import { createLane, type LaneOptions } from './lane.ts';
import type { Ledger } from './ledger.ts';
import { defaultMaxWait } from './limits.ts';
import { createFinder } from './lookup.ts';
import { type Notice, type Reporter, reportEnd, startNotice, startReporter } from './report.ts';
import { describeLimit, LimitError } from './request.ts';
import { isOpenRow, type Retry, reasonToRetry } from './retry.ts';
import { type Entry, register } from './running.ts';
import { sendMissing } from './send.ts';
import { type BatchState, describeSkipped, isFinished } from './state.ts';
import { timeLimits } from './times.ts';
import { type UserData, userDataOption } from './user-data.ts';
import { createWaitResults, type PrintedRow, waitUntilActive } from './wait.ts';

export interface RunOptions extends Pick<LaneOptions, 'loginHints' | 'onPause'> {
  readonly api: ApiClient;
  readonly userData?: UserData | undefined;
  /** The response time in milliseconds after which a response counts as late. */
  readonly timeout: number;
  readonly batchSize: number;
  readonly concurrency: number;
  /** The longest wait for the rate limit in milliseconds. If the rate limit requires a longer wait, the run ends. */
  readonly maxWait: number;
  /** The longest wait until the droplets are active, in milliseconds; undefined without `--wait`. */
  readonly waitTimeout?: number | undefined;
  /** With `--retry-for`: the further tries. */
  readonly retry?: Retry | undefined;
  /** Options that select the same profile and servers, quoted for a shell. */
  readonly profileOptions: readonly string[];
}

/**
 * Creates the remaining droplets of a batch, prints rows, progress and summary, and resolves with the exit code.
 * @param args with which the batch was started, and is resumed
 */
export async function runBatch(
  commandIo: BatchIo,
  ledger: Ledger,
  args: ParsedArgs,
  options: RunOptions,
): Promise<ExitCode> {
  const isSingle = isPlainCreation(ledger.state, args);
  const notice = startNotice(commandIo);
  const { io } = notice;
  const { progress, output, host } = io;
  const { clock } = host;
  const { api, loginHints, waitTimeout, retry, profileOptions } = options;
  const results = createWaitResults();
  const times = timeLimits(host.env);
  const onPause = (ms: number): Promise<void> => {
    notice.pausing(ms);
    return options.onPause(ms);
  };
  const lane = createLane({ api, loginHints, clock, maxPause: options.maxWait, onPause });
  const interruption = listenForInterruption(host, times.interruptLimit);
  const { ending, ended } = interruption;
  const refused = new Set<string>();
  const answered = new Set<string>();
  const foreign = new Set<string>();
  const run: Run = {
    ledger,
    lane,
    finder: createFinder(lane),
    clock,
    times,
    refused,
    answered,
    foreign,
    ending,
    ended,
  };
  const { state } = ledger;
  let isPathShown = isSingle;
  /** Before the names were checked, the run may end with nothing to resume, and without the file. */
  const showPath = async (): Promise<void> => {
    if (!isPathShown) await printLedgerPath(io, ledger);
    isPathShown = true;
  };
  if (state.baseline() !== undefined) await showPath();
  let stopped: CliError | undefined;
  let outputError: CliError | undefined;
  const sent: SentNames = { names: new Set(), lastLookupAt: 0 };
  let entry: Entry | undefined;
  let isResultLeft = false;
  try {
    entry = isFinished(state) ? undefined : await registerOrDiscard(host, ledger);
    if (entry === undefined) {
      notice.awaiting(() => 'checking that the droplets of the ledger exist');
      results.missing = await readMissing(run).catch((error: unknown) => {
        const signal = interruption.receivedSignal();
        throw signal === undefined ? error : interruptedError(signal);
      });
    }
    const isLedgerKept = (row: PrintedRow): boolean => !isSingle || !isProven(row);
    const isOpen = (name: string): boolean => retry !== undefined && isOpenRow(state, refused, name);
    const reporter = await startReporter(io, ledger, results, {
      waits: waitTimeout !== undefined,
      isLedgerKept,
      isOpen,
    });
    if (entry === undefined) await output.note('The batch is complete: there is nothing left to send.');
    const isDue = (): boolean =>
      retry?.isOpen() === true && !ending.aborted && reasonToRetry(state, stopped) !== undefined;
    const work = async (): Promise<void> => {
      if (entry !== undefined && !isFinished(state))
        stopped = await createMissing(notice, reporter, run, entry, sent, { ...options, onChecked: showPath });
      if (isDue()) return;
      if (waitTimeout !== undefined && !ending.aborted) {
        notice.awaiting(() => 'waiting until the droplets are active');
        await waitUntilActive(run, {
          results,
          timeout: waitTimeout,
          onPoll: async (active, total, ended) => {
            await progress.show(`${active} of ${total} droplets active`);
            await reporter.awaited(ended);
          },
        });
      }
      const names = [...new Set([...sent.names, ...state.unchecked()])];
      if (entry === undefined || names.length === 0 || ending.aborted) return;
      notice.awaiting(() => 'looking for droplets that exist twice');
      if (stopped !== undefined) {
        // What cannot be looked up now stays unchecked in the ledger.
        const found = await recordDuplicates(run, names, 1).catch(() => undefined);
        await reporter.settled(found?.names ?? []);
        return;
      }
      if (sent.lastLookupAt > clock.now()) await output.note(lastLookupNote);
      await clock.sleep(Math.max(0, sent.lastLookupAt - clock.now()), ending);
      const duplicates = await recordDuplicates(run, names);
      await reporter.settled(duplicates.names);
      if (duplicates.hasTagged === false && state.counts().created > 0) await output.warn(noTagsWarning);
    };
    for (;;) {
      stopped = undefined;
      try {
        await work();
      } catch (error) {
        const isStart = error instanceof CliError && error.code === 'busy' && !state.wasSent();
        if (isStart && state.baseline() === undefined) await ledger.discard();
        if (error instanceof CliError && error.code !== 'usage' && !isStart) stopped = error;
        else if (!ending.aborted) {
          if (isSingle) await printLedgerPath(io, ledger);
          await showPath();
          throw error;
        }
      }
      const reason = reasonToRetry(state, stopped);
      if (retry === undefined || reason === undefined || !isDue()) break;
      notice.awaiting(() => 'waiting for the next try');
      // A signal ends the wait, and then the loop.
      await retry.pause(reason, output, ending).catch(() => {});
      if (ending.aborted) break;
    }
    await showPath();
    try {
      await reporter.end(`not sent: ${stopped?.message ?? 'interrupted'}`);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      outputError = error;
    }
  } finally {
    notice.stop();
    await progress.stop();
    // Before the ledger of a single droplet is deleted: later runs read one of the two.
    isResultLeft = (await entry?.end(state)) ?? true;
    interruption.stop();
  }
  const signal = interruption.receivedSignal();
  const failure = stopped ?? outputError ?? signal;
  if (isSingle) await endSingleLedger(io, ledger, isResultLeft && failure === undefined && results.failures.size === 0);
  // With the same short --max-wait the resumed batch would end at the same limit.
  const isTooShort = stopped?.code === 'rate_limited' && options.maxWait < defaultMaxWait;
  const repeated = isTooShort ? withoutOption(args, 'max-wait') : args;
  const resume = resumeCommand(ledger.path, repeated, profileOptions, options.userData);
  const wait = waitTimeout !== undefined;
  const lost = namesWithIds(state, results.missing);
  const missing =
    lost.length === 0
      ? undefined
      : missingError(state, results.missing, newBatchHint(ledger, lost, args, profileOptions, options.userData));
  return reportEnd(io, { state, results, stopped, outputError, signal, resume, wait, profileOptions, missing });
}

const lastLookupNote =
  'Requests may have been carried out late: looking for droplets that exist twice; this takes up to 3 min.';

const noTagsWarning =
  'The server does not list the droplets by their tag: another run cannot recognize them as droplets of this batch.';

/**
 * The command that resumes a batch. The resume command repeats the options that determine size and number of requests, because
 * the server may not accept larger groups or more simultaneous requests.
 */
export function resumeCommand(
  ledgerPath: string,
  args: ParsedArgs,
  profileOptions: readonly string[],
  userData?: Pick<UserData, 'file'>,
): string {
  const file = userData === undefined ? [] : [`--${userDataOption.name}`, quoteShellArg(userData.file)];
  const options = [...file, ...repeatedOptions(args, profileOptions)];
  return ['cloudctl droplets create --resume', quoteShellArg(ledgerPath), ...options].join(' ');
}

/** A run that cannot register has sent nothing: a new ledger would only look like an unfinished batch. */
async function registerOrDiscard(host: BatchIo['host'], ledger: Ledger): Promise<Entry> {
  try {
    return await register(host, ledger);
  } catch (error) {
    if (ledger.state.baseline() === undefined) await ledger.discard();
    throw error;
  }
}

function withoutOption(args: ParsedArgs, option: string): ParsedArgs {
  return {
    positionals: args.positionals,
    value: (name) => (name === option ? undefined : args.value(name)),
    values: (name) => (name === option ? [] : args.values(name)),
    has: (name) => name !== option && args.has(name),
  };
}

/** What the last lookup of a run needs, from all its tries. */
interface SentNames {
  /** The names that this run has created, or may have. */
  readonly names: Set<string>;
  /** When to look for droplets that exist twice. */
  lastLookupAt: number;
}

/**
 * Waits for other runs, records which names are in use, and creates the missing droplets; resolves with the error that stopped
 * it.
 */
export async function createMissing(
  { io, awaiting }: Notice,
  reporter: Reporter,
  run: Run,
  entry: Entry,
  sent: SentNames,
  options: Pick<RunOptions, 'api' | 'batchSize' | 'concurrency' | 'timeout' | 'maxWait' | 'userData'> & {
    /** Called when nothing prevents that names are sent. */
    readonly onChecked: () => Promise<void>;
  },
): Promise<CliError | undefined> {
  const { ledger, clock, times, ending, ended } = run;
  const { state } = ledger;
  const { output } = io;
  const isResumed = state.baseline() !== undefined;
  awaiting(() => 'checking whether another run has sent the names');
  const others = await entry.settleOthers({
    maxWait: options.maxWait,
    signal: ending,
    onWaiting: (text) => {
      awaiting(() => 'waiting for another run with the same names');
      return output.note(text);
    },
  });
  for (const ids of others.created.values()) for (const id of ids) run.foreign.add(id);
  for (const group of state.uncertainGroups()) for (const name of group.names) sent.names.add(name);
  if (sentNames(state) > 0) awaiting(() => 'looking up names that an earlier run may have sent');
  await reportUncertain(io, state);
  const server = (): string =>
    `waiting for the server (${state.counts().created} of ${state.batch.names.length} created)`;
  let isLate = false;
  const onLate = (count: number): void => {
    if (isLate !== count > 0) awaiting(isLate ? server : () => lateText(times.responseLimit));
    isLate = count > 0;
  };
  let lookAgainAt: number | undefined;
  // Uncertain names come first: one that no droplet has is then compared with other runs like any missing name.
  const prepare = async (): Promise<void> => {
    awaiting(() => 'looking up which names are in use');
    ({ lookAgainAt } = await recordExisting(run, others, {
      onAdopted: async (names) => {
        if (names.length === 0) return;
        await output.note(`Found ${countOf(names.length, 'droplet')} of this batch.`);
        await reporter.settled(names);
      },
      onDoubt: async (names, ms) => {
        awaiting(() => 'looking up names that another run may have sent');
        await output.note(
          `Looking up ${countOf(names, 'name')} that another run may have sent; this takes up to ${formatDuration(ms)}.`,
        );
      },
      onProven: entry.settleNames,
    }));
    await options.onChecked();
    const differing = isResumed ? undefined : describeSkipped(state.rows());
    if (differing !== undefined) await output.note(differing);
    const older = isResumed ? undefined : describeOlderDuplicates(state);
    if (older !== undefined) await output.warn(older);
    for (const name of state.missing()) sent.names.add(name);
    reporter.sending();
    awaiting(server);
  };
  const { stop, sentAgainAt } = await sendMissing(run, { ...options, prepare, onLate, onSettled: reporter.settled });
  // A request that was repeated may be carried out late: the last lookup waits until it cannot arrive any more.
  const lookups = [clock.now(), lookAgainAt, sentAgainAt === undefined ? undefined : sentAgainAt + times.orphanLimit];
  sent.lastLookupAt = Math.max(sent.lastLookupAt, ...lookups.filter((time) => time !== undefined));
  return stop instanceof LimitError ? await describeLimit(stop, options.api, ended) : stop;
}

/** @param limit the longest wait for a late response in milliseconds */
function lateText(limit: number): string {
  return `waiting for a late response (at most ${formatDuration(limit)}), because a second request could create droplets twice`;
}

/** Names that an earlier run sent and whose result is not known. */
function sentNames(state: BatchState): number {
  const sent = state.uncertainGroups().filter(({ sentAt }) => sentAt !== undefined);
  return sent.reduce((sum, { names }) => sum + names.length, 0);
}

/** The notice is printed because the following lookups show no progress for up to a minute. */
async function reportUncertain({ output }: Pick<CommandIo, 'output'>, state: BatchState): Promise<void> {
  const names = sentNames(state);
  if (names === 0) return;
  await output.note(`Looking up ${countOf(names, 'name')} that an earlier run may have sent; this takes up to 3 min.`);
}

/**
 * A creation of one droplet without batch options: the ledger is deleted once the result is proven, and its path is printed
 * only if the file stays.
 */
function isPlainCreation({ batch }: BatchState, args: ParsedArgs): boolean {
  const named = ['resume', 'ledger', 'batch-id'];
  return batch.names.length === 1 && !named.some((option) => args.has(option));
}

/** A complete creation response names the droplet and its action; a droplet that a lookup found has no action. */
export function isProven(row: PrintedRow): boolean {
  return row.status === 'skipped' || (row.status === 'created' && row.action_id !== undefined);
}

/** Prints the path of the ledger, unless no request was sent and the file is deleted. */
async function printLedgerPath({ output }: Pick<BatchIo, 'output'>, { path }: Pick<Ledger, 'path'>): Promise<void> {
  if (existsSync(path)) await output.show(`ledger: ${path}`);
}

/** @param hasSucceeded no error stopped the run, and the row of the droplet was printed */
async function endSingleLedger(io: Pick<BatchIo, 'output'>, ledger: Ledger, hasSucceeded: boolean): Promise<void> {
  if (hasSucceeded && isProven(ledger.state.rowAt(0))) await ledger.discard();
  else await printLedgerPath(io, ledger);
}

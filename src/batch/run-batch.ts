import type { Api } from '../api/client.ts';
import type { CommandIo } from '../cli/command-io.ts';
import { formatWaitingTime } from '../cli/duration.ts';
import { CliError, type ExitCode, usageError } from '../errors.ts';
import { adoptMarkedDroplets } from './adopt-marked.ts';
import { reportBatchEnd } from './batch-end.ts';
import { listenForInterruption } from './batch-interruption.ts';
import type { BatchIo } from './batch-io.ts';
import { type BatchReporter, startBatchReporter } from './batch-reporter.ts';
import type { BatchState, NameResult } from './batch-state.ts';
import { type BatchTimings, batchTimingsFor } from './batch-timings.ts';
import { createBatch } from './create-batch.ts';
import { DropletLimitError, suggestFittingNumber } from './droplet-limit.ts';
import { createDropletLookup } from './droplet-lookup.ts';
import type { Ledger } from './ledger.ts';
import { createSendLane, type SendLaneOptions } from './send-lane.ts';
import { createTaggedBatch, reportDuplicates, type TaggedBatch, type TaggedBatchDeps } from './settle-tagged.ts';
import { startSilenceNotice } from './silence-notice.ts';
import { endSingleCreation, isProven, showLedgerPath } from './single-creation.ts';
import { skippedDifferences } from './skipped-row.ts';
import { takeBaseline } from './take-baseline.ts';
import type { UserData } from './user-data.ts';
import { createWaitResults } from './wait-results.ts';
import { waitUntilActive } from './wait-until-active.ts';

export interface RunBatchOptions extends Pick<SendLaneOptions, 'loginHints' | 'onPause'> {
  readonly api: Api;
  readonly userData?: UserData | undefined;
  /** The ledger is deleted when the result of its only name is proven; its path is printed only if it stays. */
  readonly isSingle?: boolean;
  /** Milliseconds after which a response is late. */
  readonly timeout: number;
  readonly batchSize: number;
  readonly concurrency: number;
  /** The longest wait for the rate limit in milliseconds; a longer one ends the run. */
  readonly maxWait: number;
  /** Wait until the droplets are active. */
  readonly wait: boolean;
  /** The longest wait until the droplets are active, in milliseconds. */
  readonly waitTimeout: number;
  /** The command that resumes the batch. */
  readonly resume: string;
  /** Options that select the same profile and servers, quoted for a shell. */
  readonly profileOptions: readonly string[];
}

/** Sends what is left of a batch, prints rows, progress and summary, and resolves with the exit code. */
export async function runBatch(commandIo: BatchIo, ledger: Ledger, options: RunBatchOptions): Promise<ExitCode> {
  const notice = startSilenceNotice(commandIo);
  const { io } = notice;
  const { progress, output, host } = io;
  const { clock } = host;
  const { api, loginHints, timeout, wait, resume, profileOptions } = options;
  const results = createWaitResults();
  const timings = batchTimingsFor(host.env);
  const onPause = (ms: number): Promise<void> => {
    notice.pausing(ms);
    return options.onPause(ms);
  };
  const lane = createSendLane({ api, loginHints, clock, maxPause: options.maxWait, onPause });
  const interruption = listenForInterruption(host, timings.interruptLimit);
  const { ending, ended } = interruption;
  const deps = { ledger, lane, lookup: createDropletLookup(lane), clock, timings, ending, ended, loginHints };
  const { state } = ledger;
  let stopped: CliError | undefined;
  let outputError: CliError | undefined;
  /** When to look for droplets that were sent twice; undefined when there can be none, or nothing tells them apart. */
  let lastLookupAt: number | undefined;
  try {
    const isLedgerKept = (row: NameResult): boolean => options.isSingle !== true || !isProven(row);
    const reporter = await startBatchReporter(io, ledger, wait ? results : undefined, isLedgerKept);
    try {
      if (isFinished(state)) await output.note('The batch is complete: there is nothing left to send.');
      else {
        const isResumed = state.baseline() !== undefined;
        notice.awaiting(() => 'looking up which names are in use');
        const tagged = state.batch.content_hash === undefined ? undefined : taggedBatch(io, reporter, deps);
        if (tagged === undefined) await takeBaseline(deps);
        else await tagged.begin();
        await requireNamesAvailable(ledger);
        const differing = isResumed ? undefined : skippedDifferences(state.rows());
        if (differing !== undefined) await output.note(differing);
        notice.awaiting(() => 'looking up names that another run may have sent');
        if (tagged !== undefined) await tagged.resolveMissing();
        else if (isResumed) await reportAdopted(io, reporter, await adoptMarkedDroplets(deps));
        const isSending = state.missing().length > 0 || sentNames(state) > 0;
        await reportUncertain(io, state);
        notice.awaiting(
          () => `waiting for the server (${state.counts().created} of ${state.batch.names.length} created)`,
        );
        let sentAgainAt: number | undefined;
        const onSentAgain = (): void => {
          sentAgainAt = clock.now();
        };
        const stop = await createBatch({ ...deps, ...options, timeout, onSettled: reporter.settled, onSentAgain });
        stopped = stop instanceof DropletLimitError ? await suggestFittingNumber(stop, api, ended) : stop;
        if (isSending && stopped === undefined && !ending.aborted)
          lastLookupAt = lastLookupTime(state, tagged, { isResumed, sentAgainAt, now: clock.now(), timings });
      }
      if (wait && !ending.aborted) {
        notice.awaiting(() => 'waiting until the droplets are active');
        await waitUntilActive(state, {
          ...{ lane, clock, results, signal: ending },
          ...{ timings, timeout: options.waitTimeout },
          onPoll: async (active, total, ended) => {
            await progress.show(`${active} of ${total} droplets active`);
            await reporter.awaited(ended);
          },
        });
      }
      if (lastLookupAt !== undefined && !ending.aborted) {
        notice.awaiting(() => 'looking for droplets that exist twice');
        if (lastLookupAt > clock.now()) await output.note(lastLookupNote);
        await clock.sleep(Math.max(0, lastLookupAt - clock.now()), ending);
        const duplicates = await reportDuplicates(deps);
        await reporter.settled(duplicates.names);
        if (!duplicates.hasTagged && state.counts().created > 0) await output.warn(noTagsWarning);
      }
    } catch (error) {
      if (error instanceof CliError && error.code !== 'usage') stopped = error;
      else if (!ending.aborted) {
        if (options.isSingle === true) await showLedgerPath(io, ledger);
        throw error;
      }
    }
    try {
      await reporter.end(`not sent: ${stopped?.message ?? 'interrupted'}`);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      outputError = error;
    }
  } finally {
    notice.stop();
    await progress.stop();
    interruption.stop();
  }
  const signal = interruption.receivedSignal();
  const failure = stopped ?? outputError ?? signal;
  if (options.isSingle === true)
    await endSingleCreation(io, ledger, failure === undefined && results.failures.size === 0);
  return reportBatchEnd(io, { state, results, stopped, outputError, signal, resume, wait, profileOptions });
}

/** Nothing is left to send. */
export function isFinished(state: BatchState): boolean {
  const { missing, failed, unknown } = state.counts();
  return state.baseline() !== undefined && missing + failed + unknown === 0;
}

interface SentTwice {
  readonly isResumed: boolean;
  /** When this run sent names again that it had sent before. */
  readonly sentAgainAt: number | undefined;
  readonly now: number;
  readonly timings: BatchTimings;
}

/**
 * When droplets can be found that an earlier run sent and this one sent again, or that this run sent twice because the server
 * carried the first request out later than the lookups. A late server gets as long as a kernel that sends late.
 */
function lastLookupTime(
  { batch }: BatchState,
  tagged: TaggedBatch | undefined,
  { isResumed, sentAgainAt, now, timings }: SentTwice,
): number | undefined {
  if (tagged === undefined && !batch.mark) return undefined;
  const ofEarlierRun = tagged?.lastLookupAt() ?? (isResumed ? now : undefined);
  const times = [ofEarlierRun, sentAgainAt === undefined ? undefined : sentAgainAt + timings.orphanLimit];
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

const lastLookupNote =
  'Requests may have been carried out late: looking for droplets that exist twice; this takes up to 3 min.';

const noTagsWarning =
  'The server does not list the droplets by their tag: another run cannot recognize them as droplets of this batch.';

function taggedBatch(
  { output }: Pick<CommandIo, 'output'>,
  reporter: BatchReporter,
  deps: Omit<TaggedBatchDeps, 'onAdopted' | 'onDoubt'>,
): TaggedBatch {
  return createTaggedBatch({
    ...deps,
    onAdopted: async (names) => {
      if (names.length === 0) return;
      await output.note(`Found ${names.length === 1 ? '1 droplet' : `${names.length} droplets`} of this batch.`);
      await reporter.settled(names);
    },
    onDoubt: async (names, ms) => {
      const count = names === 1 ? '1 name' : `${names} names`;
      await output.note(`Looking up ${count} that another run may have sent; this takes ${formatWaitingTime(ms)}.`);
    },
  });
}

/** Explains rows of names that this ledger never sent. */
async function reportAdopted(
  { output }: Pick<CommandIo, 'output'>,
  reporter: BatchReporter,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  const count = names.length === 1 ? '1 droplet' : `${names.length} droplets`;
  await output.note(`Adopted ${count} with the tag of this batch that another copy of the ledger created.`);
  await reporter.settled(names);
}

/** Names that an earlier run sent without a result. */
function sentNames(state: BatchState): number {
  const sent = state.uncertainGroups().filter(({ sentAt }) => sentAt !== undefined);
  return sent.reduce((sum, { names }) => sum + names.length, 0);
}

/** The lookups that follow show no progress for up to a minute. */
async function reportUncertain({ output }: Pick<CommandIo, 'output'>, state: BatchState): Promise<void> {
  const names = sentNames(state);
  if (names === 0) return;
  const count = names === 1 ? '1 name' : `${names} names`;
  await output.note(`Looking up ${count} that an earlier run may have sent; this takes up to 3 min.`);
}

/** With `--if-exists fail` no existing droplet may have one of the names. */
async function requireNamesAvailable(ledger: Ledger): Promise<void> {
  const { batch, baseline } = ledger.state;
  const taken = Object.entries(baseline()?.existing ?? {});
  if (batch.if_exists !== 'fail' || taken.length === 0) return;
  await ledger.discard();
  const listed = taken.slice(0, 20).map(([name, ids]) => `${name} (${ids.join(', ')})`);
  const more = taken.length > listed.length ? ` and ${taken.length - listed.length} more` : '';
  throw usageError(
    `${taken.length === 1 ? '1 name is' : `${taken.length} names are`} used by existing droplets`,
    'skip these names with `--if-exists skip`, or create more droplets of the same name with `--if-exists create`',
    `${listed.join(', ')}${more}`,
  );
}

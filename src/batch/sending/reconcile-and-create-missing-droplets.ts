import type { ApiClient } from '../../api/client.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { formatWaitingTime } from '../../cli/duration.ts';
import { type CliError, usageError } from '../../errors.ts';
import { type CreateMissingDropletsOptions, createMissingDroplets } from '../create-missing-droplets.ts';
import type { BatchLedger } from '../ledger/batch-ledger.ts';
import type { BatchLedgerState } from '../ledger/batch-ledger-state.ts';
import { adoptMarkedDroplets } from '../lookup/adopt-marked.ts';
import { recordExistingDroplets } from '../lookup/record-existing-droplets.ts';
import {
  createTaggedBatchReconciler,
  type TaggedBatchReconciler,
  type TaggedBatchReconcilerDeps,
} from '../lookup/tagged-batch-reconciler.ts';
import type { BatchReporter } from '../report/batch-reporter.ts';
import type { BatchWaitingNoticePrinter } from '../report/batch-waiting-notice-printer.ts';
import { describeSkippedDropletDifferences } from '../report/skipped-existing-droplet-row.ts';
import type { BatchTimeLimits } from './batch-time-limits.ts';
import { addCreatableDropletCountToError, DropletLimitError } from './droplet-limit.ts';

/** The dependencies of `createMissingDroplets` and of the lookups before it. */
type SendDeps = Omit<TaggedBatchReconcilerDeps, 'onAdopted' | 'onDoubt'> &
  Pick<CreateMissingDropletsOptions, 'lane' | 'ended' | 'loginHints'>;

export interface ReconcileAndCreateMissingDropletsOptions
  extends Pick<CreateMissingDropletsOptions, 'batchSize' | 'concurrency' | 'timeout' | 'userData'> {
  readonly api: ApiClient;
}

export interface ReconcileAndCreateMissingDropletsResult {
  readonly stopped: CliError | undefined;
  /**
   * When to search for droplets that were created twice; undefined when there can be none, or when duplicates cannot be
   * recognized.
   */
  readonly lastLookupAt: number | undefined;
}

/** Records which names are in use, records droplets of earlier runs as created, and creates the missing droplets. */
export async function reconcileAndCreateMissingDroplets(
  { io, awaiting }: BatchWaitingNoticePrinter,
  reporter: BatchReporter,
  deps: SendDeps,
  options: ReconcileAndCreateMissingDropletsOptions,
): Promise<ReconcileAndCreateMissingDropletsResult> {
  const { ledger, clock, timings, ending, ended } = deps;
  const { state } = ledger;
  const isResumed = state.baseline() !== undefined;
  awaiting(() => 'looking up which names are in use');
  const tagged = state.batch.content_hash === undefined ? undefined : taggedBatch(io, reporter, deps);
  if (tagged === undefined) await recordExistingDroplets(deps);
  else await tagged.begin();
  await requireNamesAvailable(ledger);
  const differing = isResumed ? undefined : describeSkippedDropletDifferences(state.rows());
  if (differing !== undefined) await io.output.note(differing);
  awaiting(() => 'looking up names that another run may have sent');
  if (tagged !== undefined) await tagged.resolveMissing();
  else if (isResumed) await reportAdopted(io, reporter, await adoptMarkedDroplets(deps));
  const isSending = state.missing().length > 0 || sentNames(state) > 0;
  await reportUncertain(io, state);
  awaiting(() => `waiting for the server (${state.counts().created} of ${state.batch.names.length} created)`);
  let sentAgainAt: number | undefined;
  const onSentAgain = (): void => {
    sentAgainAt = clock.now();
  };
  const stop = await createMissingDroplets({ ...deps, ...options, onSettled: reporter.settled, onSentAgain });
  const stopped =
    stop instanceof DropletLimitError ? await addCreatableDropletCountToError(stop, options.api, ended) : stop;
  const isDone = isSending && stopped === undefined && !ending.aborted;
  const sent = { isResumed, sentAgainAt, now: clock.now(), timings };
  return { stopped, lastLookupAt: isDone ? lastLookupTime(state, tagged, sent) : undefined };
}

interface SentTwice {
  readonly isResumed: boolean;
  /** The time at which this run sent names for a second time; undefined if it did not. */
  readonly sentAgainAt: number | undefined;
  readonly now: number;
  readonly timings: BatchTimeLimits;
}

/**
 * The time at which droplets that were created twice are searched for the last time. A droplet is created twice when a
 * request was repeated and the server processed the first request late. The search waits until no such request can arrive.
 */
function lastLookupTime(
  { batch }: BatchLedgerState,
  tagged: TaggedBatchReconciler | undefined,
  { isResumed, sentAgainAt, now, timings }: SentTwice,
): number | undefined {
  if (tagged === undefined && !batch.mark) return undefined;
  const ofEarlierRun = tagged?.lastLookupAt() ?? (isResumed ? now : undefined);
  const times = [ofEarlierRun, sentAgainAt === undefined ? undefined : sentAgainAt + timings.orphanLimit];
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function taggedBatch(
  { output }: Pick<CommandIo, 'output'>,
  reporter: BatchReporter,
  deps: Omit<TaggedBatchReconcilerDeps, 'onAdopted' | 'onDoubt'>,
): TaggedBatchReconciler {
  return createTaggedBatchReconciler({
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

/** Prints a notice that another copy of the ledger created some droplets, then prints their rows. */
async function reportAdopted(
  { output }: Pick<CommandIo, 'output'>,
  reporter: BatchReporter,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  const count = names.length === 1 ? '1 droplet' : `${names.length} droplets`;
  await output.note(`Adopted ${count} with the tag of this batch, created with another copy of the ledger.`);
  await reporter.settled(names);
}

/** Names that an earlier run sent and whose result is not known. */
function sentNames(state: BatchLedgerState): number {
  const sent = state.uncertainGroups().filter(({ sentAt }) => sentAt !== undefined);
  return sent.reduce((sum, { names }) => sum + names.length, 0);
}

/** The notice is printed because the following lookups show no progress for up to a minute. */
async function reportUncertain({ output }: Pick<CommandIo, 'output'>, state: BatchLedgerState): Promise<void> {
  const names = sentNames(state);
  if (names === 0) return;
  const count = names === 1 ? '1 name' : `${names} names`;
  await output.note(`Looking up ${count} that an earlier run may have sent; this takes up to 3 min.`);
}

/** With `--if-exists fail`, no existing droplet may have one of the names of the batch. */
async function requireNamesAvailable(ledger: BatchLedger): Promise<void> {
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

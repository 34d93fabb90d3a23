import type { ApiClient } from '../api/client.ts';
import { CliError, type ExitCode } from '../errors.ts';
import { listenForBatchInterruption } from './batch-interruption.ts';
import type { BatchIo } from './batch-io.ts';
import type { BatchLedger } from './ledger/batch-ledger.ts';
import type { BatchLedgerState, BatchResultRow } from './ledger/batch-ledger-state.ts';
import { createDropletByNameFinder } from './lookup/droplet-by-name-finder.ts';
import { findAndRecordDuplicateDroplets } from './lookup/tagged-batch-reconciler.ts';
import type { DropletUserData } from './options/user-data.ts';
import { startBatchReporter } from './report/batch-reporter.ts';
import { reportBatchEnd } from './report/batch-run-result.ts';
import { startBatchWaitingNoticePrinter } from './report/batch-waiting-notice-printer.ts';
import { getBatchTimeLimitsFromEnvironment } from './sending/batch-time-limits.ts';
import { createRateLimitedSender, type RateLimitedSenderOptions } from './sending/rate-limited-sender.ts';
import { reconcileAndCreateMissingDroplets } from './sending/reconcile-and-create-missing-droplets.ts';
import {
  deleteProvenLedgerOrPrintPath,
  isDropletCreationProven,
  printBatchLedgerPath,
} from './single-droplet-creation.ts';
import { createDropletWaitResults } from './waiting/wait-results.ts';
import { waitUntilDropletsActive } from './waiting/wait-until-droplets-active.ts';

export interface RunBatchOptions extends Pick<RateLimitedSenderOptions, 'loginHints' | 'onPause'> {
  readonly api: ApiClient;
  readonly userData?: DropletUserData | undefined;
  /** The ledger is deleted when the result of its only name is proven; the path of the ledger is printed only if the file stays. */
  readonly isSingle?: boolean;
  /** The response time in milliseconds after which a response counts as late. */
  readonly timeout: number;
  readonly batchSize: number;
  readonly concurrency: number;
  /** The longest wait for the rate limit in milliseconds. If the rate limit requires a longer wait, the run ends. */
  readonly maxWait: number;
  /** Whether the batch waits until the droplets are active. */
  readonly wait: boolean;
  /** The longest wait until the droplets are active, in milliseconds. */
  readonly waitTimeout: number;
  /** The command that resumes this batch. */
  readonly resume: string;
  /** Options that select the same profile and servers, quoted for a shell. */
  readonly profileOptions: readonly string[];
}

/** Creates the remaining droplets of a batch, prints rows, progress and summary, and resolves with the exit code. */
export async function runBatch(commandIo: BatchIo, ledger: BatchLedger, options: RunBatchOptions): Promise<ExitCode> {
  const notice = startBatchWaitingNoticePrinter(commandIo);
  const { io } = notice;
  const { progress, output, host } = io;
  const { clock } = host;
  const { api, loginHints, wait, resume, profileOptions } = options;
  const results = createDropletWaitResults();
  const timings = getBatchTimeLimitsFromEnvironment(host.env);
  const onPause = (ms: number): Promise<void> => {
    notice.pausing(ms);
    return options.onPause(ms);
  };
  const lane = createRateLimitedSender({ api, loginHints, clock, maxPause: options.maxWait, onPause });
  const interruption = listenForBatchInterruption(host, timings.interruptLimit);
  const { ending, ended } = interruption;
  const deps = { ledger, lane, lookup: createDropletByNameFinder(lane), clock, timings, ending, ended, loginHints };
  const { state } = ledger;
  let stopped: CliError | undefined;
  let outputError: CliError | undefined;
  /**
   * When to search for droplets that were created twice; undefined when there can be none, or when duplicates cannot be
   * recognized.
   */
  let lastLookupAt: number | undefined;
  try {
    const isLedgerKept = (row: BatchResultRow): boolean => options.isSingle !== true || !isDropletCreationProven(row);
    const reporter = await startBatchReporter(io, ledger, wait ? results : undefined, isLedgerKept);
    try {
      if (isBatchFinished(state)) await output.note('The batch is complete: there is nothing left to send.');
      else ({ stopped, lastLookupAt } = await reconcileAndCreateMissingDroplets(notice, reporter, deps, options));
      if (wait && !ending.aborted) {
        notice.awaiting(() => 'waiting until the droplets are active');
        await waitUntilDropletsActive(state, {
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
        const duplicates = await findAndRecordDuplicateDroplets(deps);
        await reporter.settled(duplicates.names);
        if (!duplicates.hasTagged && state.counts().created > 0) await output.warn(noTagsWarning);
      }
    } catch (error) {
      if (error instanceof CliError && error.code !== 'usage') stopped = error;
      else if (!ending.aborted) {
        if (options.isSingle === true) await printBatchLedgerPath(io, ledger);
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
    await deleteProvenLedgerOrPrintPath(io, ledger, failure === undefined && results.failures.size === 0);
  return reportBatchEnd(io, { state, results, stopped, outputError, signal, resume, wait, profileOptions });
}

/** The batch has no droplets left to create. */
export function isBatchFinished(state: BatchLedgerState): boolean {
  const { missing, failed, unknown } = state.counts();
  return state.baseline() !== undefined && missing + failed + unknown === 0;
}

const lastLookupNote =
  'Requests may have been carried out late: looking for droplets that exist twice; this takes up to 3 min.';

const noTagsWarning =
  'The server does not list the droplets by their tag: another run cannot recognize them as droplets of this batch.';

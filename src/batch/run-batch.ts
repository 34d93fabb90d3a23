import { showRateLimitWait } from '../commands/rate-limit-pause.ts';
import type { ProfileSettings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { CliError, type ExitCode, usageError } from '../errors.ts';
import { loginHints } from '../session/session-binding.ts';
import { adoptMarkedDroplets } from './adopt-marked.ts';
import { listenForInterruption } from './batch-interruption.ts';
import { type BatchReporter, reportBatchEnd, startBatchReporter } from './batch-report.ts';
import type { BatchState } from './batch-state.ts';
import { batchTimingsFor } from './batch-timings.ts';
import { createBatch } from './create-batch.ts';
import { createDropletLookup } from './droplet-lookup.ts';
import type { Ledger } from './ledger.ts';
import { createSendLane } from './send-lane.ts';
import { takeBaseline } from './take-baseline.ts';
import { type WaitUntilActiveOptions, waitUntilActive } from './wait-until-active.ts';

export interface RunBatchOptions {
  readonly batchSize: number;
  readonly concurrency: number;
  readonly settings: ProfileSettings;
  readonly wait: boolean;
  /** The command that goes on with the batch. */
  readonly resume: string;
}

/** Does what is left of a batch, tells it, and gives the exit code. */
export async function runBatch(context: Context, ledger: Ledger, options: RunBatchOptions): Promise<ExitCode> {
  const { progress, host } = context;
  const { clock } = host;
  const timings = batchTimingsFor(host.env);
  const api = await context.api(options.settings);
  const cures = loginHints(options.settings, host.folders.config);
  const line = createSendLane({
    api,
    loginHints: cures,
    clock,
    maxPause: timings.maxPause,
    onPause: (ms) => showRateLimitWait(context, ms),
  });
  const signals = listenForInterruption(host, timings.interruptLimit);
  const { ending, ended } = signals;
  const means = {
    ledger,
    lane: line,
    lookup: createDropletLookup(line),
    clock,
    timings,
    ending,
    ended,
    loginHints: cures,
  };
  let stopped: CliError | undefined;
  let unwritten: CliError | undefined;
  try {
    const telling = await startBatchReporter(context, ledger.state);
    try {
      if (isFinished(ledger.state)) await context.output.note('this batch is finished: nothing is left to send');
      else {
        const isResumed = ledger.state.baseline() !== undefined;
        await takeBaseline(means);
        await requireNamesAvailable(ledger);
        if (isResumed) await reportAdopted(context, telling, await adoptMarkedDroplets(means));
        await reportUncertain(context, ledger.state);
        const { timeout } = context;
        stopped = await createBatch({ ...means, ...options, timeout, onSettled: telling.settled });
      }
      if (options.wait && !ending.aborted)
        await waitForActive(context, ledger.state, { lane: line, clock, poll: timings.pollInterval, signal: ending });
    } catch (error) {
      if (error instanceof CliError && error.code !== 'usage') stopped = error;
      else if (!ending.aborted) throw error;
    }
    try {
      await telling.end(`not sent: ${stopped?.message ?? 'interrupted'}`);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      unwritten = error;
    }
  } finally {
    await progress.stop();
    signals.stop();
  }
  const { wait, resume } = options;
  return reportBatchEnd(context, {
    roster: ledger.state,
    stopped,
    unwritten,
    signal: signals.receivedSignal(),
    resume,
    wait,
  });
}

function isFinished(roster: BatchState): boolean {
  const { missing, failed, unknown } = roster.counts();
  return roster.baseline() !== undefined && missing + failed + unknown === 0;
}

/** Nobody expects rows of names that this ledger never sent. */
async function reportAdopted({ output }: Context, telling: BatchReporter, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const told = names.length === 1 ? '1 name was' : `${names.length} names were`;
  await output.note(
    `${told} created meanwhile, not by this ledger: was a copy of it resumed? Their droplets are adopted`,
  );
  await telling.settled(names);
}

/** Before nothing moves for half a minute. */
async function reportUncertain({ output }: Context, roster: BatchState): Promise<void> {
  const names = roster.uncertainGroups().reduce((sum, doubt) => sum + doubt.names.length, 0);
  if (names === 0) return;
  const told = names === 1 ? '1 name' : `${names} names`;
  await output.note(`looking for ${told} that an earlier run may have sent: up to a minute, before the rest is sent`);
}

/** With `--if-exists fail` no droplet may have one of the names. */
async function requireNamesAvailable(ledger: Ledger): Promise<void> {
  const { batch, baseline } = ledger.state;
  const taken = Object.entries(baseline()?.existing ?? {});
  if (batch.if_exists !== 'fail' || taken.length === 0) return;
  await ledger.discard();
  const told = taken.slice(0, 20).map(([name, ids]) => `${name} (${ids.join(', ')})`);
  const more = taken.length > told.length ? ` and ${taken.length - told.length} more` : '';
  throw usageError(
    `${taken.length === 1 ? '1 name is' : `${taken.length} names are`} taken by droplets that exist`,
    'leave them out with `--if-exists skip`, or create more of the same name with `--if-exists create`',
    `${told.join(', ')}${more}`,
  );
}

async function waitForActive(
  context: Context,
  roster: BatchState,
  means: Omit<WaitUntilActiveOptions, 'onPoll'>,
): Promise<void> {
  const { progress, output } = context;
  const onLook = (active: number, total: number): Promise<void> =>
    progress.show(`${active} of ${total} droplets active`);
  const gone = await waitUntilActive(roster, { ...means, onPoll: onLook });
  if (gone.length === 0) return;
  const told = gone.length > 20 ? `${gone.slice(0, 20).join(', ')} and ${gone.length - 20} more` : gone.join(', ');
  await output.warn(`not there any more: ${told}`);
}

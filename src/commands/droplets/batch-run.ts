import { type ActiveOptions, untilActive } from '../../batch/active.ts';
import { takeBaseline } from '../../batch/baseline.ts';
import { createBatch } from '../../batch/create.ts';
import type { Ledger } from '../../batch/ledger.ts';
import { createLine } from '../../batch/line.ts';
import { createLookups } from '../../batch/lookup.ts';
import { adoptNewcomers } from '../../batch/newcomers.ts';
import type { Roster } from '../../batch/roster.ts';
import { waitsHere } from '../../batch/waits.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { CliError, type ExitCode, usage } from '../../errors.ts';
import { wayIn } from '../../session/wiring.ts';
import { tellLimit } from '../limit-pause.ts';
import { conclude, type Telling, tellBatch } from './batch-report.ts';
import { listen } from './batch-signals.ts';

export interface RunOptions {
  readonly batchSize: number;
  readonly concurrency: number;
  readonly settings: Settings;
  readonly wait: boolean;
  /** The command that goes on with the batch. */
  readonly resume: string;
}

/** Does what is left of a batch, tells it, and gives the exit code. */
export async function runBatch(context: Context, ledger: Ledger, options: RunOptions): Promise<ExitCode> {
  const { progress, host } = context;
  const { clock } = host;
  const waits = waitsHere(host.env);
  const api = await context.api(options.settings);
  const cures = wayIn(options.settings, host.folders.config);
  const line = createLine({ api, wayIn: cures, clock, pause: waits.pause, onPause: (ms) => tellLimit(context, ms) });
  const signals = listen(host, waits.interrupt);
  const { ending, ended } = signals;
  const means = { ledger, line, lookups: createLookups(line), clock, waits, ending, ended, wayIn: cures };
  let stopped: CliError | undefined;
  let unwritten: CliError | undefined;
  try {
    const telling = await tellBatch(context, ledger.roster);
    try {
      if (isFinished(ledger.roster)) await context.output.note('this batch is finished: nothing is left to send');
      else {
        const isResumed = ledger.roster.baseline() !== undefined;
        await takeBaseline(means);
        await requireFree(ledger);
        if (isResumed) await tellNewcomers(context, telling, await adoptNewcomers(means));
        await tellDoubts(context, ledger.roster);
        const { timeout } = context;
        stopped = await createBatch({ ...means, ...options, timeout, onSettled: telling.settled });
      }
      if (options.wait && !ending.aborted)
        await waitFor(context, ledger.roster, { line, clock, poll: waits.poll, signal: ending });
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
  return conclude(context, { roster: ledger.roster, stopped, unwritten, signal: signals.heard(), resume, wait });
}

function isFinished(roster: Roster): boolean {
  const { missing, failed, unknown } = roster.counts();
  return roster.baseline() !== undefined && missing + failed + unknown === 0;
}

/** Nobody expects rows of names that this ledger never sent. */
async function tellNewcomers({ output }: Context, telling: Telling, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const told = names.length === 1 ? '1 name was' : `${names.length} names were`;
  await output.note(
    `${told} created meanwhile, not by this ledger: was a copy of it resumed? Their droplets are adopted`,
  );
  await telling.settled(names);
}

/** Before nothing moves for half a minute. */
async function tellDoubts({ output }: Context, roster: Roster): Promise<void> {
  const names = roster.doubts().reduce((sum, doubt) => sum + doubt.names.length, 0);
  if (names === 0) return;
  const told = names === 1 ? '1 name' : `${names} names`;
  await output.note(`looking for ${told} that an earlier run may have sent: up to a minute, before the rest is sent`);
}

/** With `--if-exists fail` no droplet may have one of the names. */
async function requireFree(ledger: Ledger): Promise<void> {
  const { batch, baseline } = ledger.roster;
  const taken = Object.entries(baseline()?.existing ?? {});
  if (batch.if_exists !== 'fail' || taken.length === 0) return;
  await ledger.discard();
  const told = taken.slice(0, 20).map(([name, ids]) => `${name} (${ids.join(', ')})`);
  const more = taken.length > told.length ? ` and ${taken.length - told.length} more` : '';
  throw usage(
    `${taken.length === 1 ? '1 name is' : `${taken.length} names are`} taken by droplets that exist`,
    'leave them out with `--if-exists skip`, or create more of the same name with `--if-exists create`',
    `${told.join(', ')}${more}`,
  );
}

async function waitFor(context: Context, roster: Roster, means: Omit<ActiveOptions, 'onLook'>): Promise<void> {
  const { progress, output } = context;
  const onLook = (active: number, total: number): Promise<void> =>
    progress.show(`${active} of ${total} droplets active`);
  const gone = await untilActive(roster, { ...means, onLook });
  if (gone.length === 0) return;
  const told = gone.length > 20 ? `${gone.slice(0, 20).join(', ')} and ${gone.length - 20} more` : gone.join(', ');
  await output.warn(`not there any more: ${told}`);
}

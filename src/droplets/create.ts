import type { Actor } from '../api/actor.ts';
import type { Waits } from '../api/waits.ts';
import { CliError, type ExitCode, usageError, withHint } from '../base/errors.ts';
import type { ParsedArgs } from '../cli/command.ts';
import { quietForJson, showPause } from '../cli/command-io.ts';
import { requireDuration, requireInteger } from '../cli/values.ts';
import { runUntilSignal } from '../platform/waiting.ts';
import { accountOf, type ProfileIo, requireAccount, requireProfile } from './account.ts';
import { newBatchHint } from './again.ts';
import type { Batch } from './events.ts';
import { openLedger } from './ledger.ts';
import { readLimits } from './limits.ts';
import { describeBatch, readLedgerSelection, requireSameOptions } from './options.ts';
import { dryRunView, planView, printDryRun, printPlan } from './plan.ts';
import { resultView } from './report.ts';
import { createRetry, repeatStep } from './retry.ts';
import { resumeCommand, runBatch } from './run.ts';
import { type BatchState, createState, isFinished } from './state.ts';
import { requireLedgerFolder, startLedger } from './stored.ts';
import { readUserData } from './user-data.ts';

/**
 * Creates the droplets that the arguments describe, or continues the batch of a ledger; with `--plan` and `--dry-run` it only
 * prints what it would do. Resolves with the exit code. @param context `timeout`: milliseconds of one request
 */
export async function createDroplets(
  context: ProfileIo & { readonly timeout: number },
  actor: Actor,
  args: ParsedArgs,
): Promise<ExitCode> {
  const batchSize = requireInteger(args.value('batch-size') ?? '10', '--batch-size', { min: 1, max: 10 });
  const { concurrency, maxWait } = readLimits(args);
  const { host, output } = context;
  const io = quietForJson(context);
  const waits: Waits = { maxWait, onPause: showPause(io) };
  const waitTimeout = requireDuration(args.value('wait-timeout') ?? '15m', '--wait-timeout', 1000);
  if (args.value('wait-timeout') !== undefined && !args.has('wait'))
    throw usageError('--wait-timeout needs --wait', 'add `--wait`');
  const retryFor = args.value('retry-for');
  const retry = retryFor === undefined ? undefined : createRetry(host, requireDuration(retryFor, '--retry-for', 1000));
  const { resumed, created } = readLedgerSelection(args);
  const [isDryRun, isPlan] = [args.has('dry-run'), args.has('plan')];
  const { stdin, clock, random } = host;
  const input = { stdin, clock, random, note: io.output.note };
  const userData = await readUserData(input, args);
  if (isDryRun) output.checkColumns(dryRunView);
  else if (isPlan) output.checkColumns(planView);
  else output.checkColumns(resultView);
  const { settings } = context;
  const { profileOptions, loginHints } = actor;
  /** @param again what the user can run after an interruption */
  const withRetry = <T>(step: () => Promise<T>, again?: string): Promise<T> =>
    retry === undefined
      ? step()
      : runUntilSignal(host.signals, 'interrupted before a droplet was requested', (signal) =>
          repeatStep(retry, io.output, signal, step),
        ).catch((error: unknown) => {
          if (!(error instanceof CliError) || error.code !== 'cancelled') throw error;
          throw withHint(error, again);
        });
  const dryRun = async (names: readonly string[], { attributes, base_url: baseUrl }: Batch) => {
    await printDryRun(context, names, attributes, { batchSize, baseUrl, profileOptions: profileOptions(), userData });
    return 0 as const;
  };
  const plan = async (state: BatchState) => {
    const lane = { api: await actor.api(), loginHints: loginHints(), maxPause: maxWait, onPause: waits.onPause };
    await printPlan({ host, output, progress: io.progress }, state, lane);
    return 0 as const;
  };
  const described = resumed === undefined ? await describeBatch(input, args, settings(), userData) : undefined;
  if (described !== undefined && isDryRun) return dryRun(described.names, described);
  if (described !== undefined && isPlan) return plan(createState(described));
  if (described !== undefined) requireLedgerFolder(host, created);
  const ledger =
    described === undefined
      ? await openLedger(resumed ?? '', host)
      : await startLedger(host, described, {
          path: created,
          identity: await withRetry(() => actor.identityIfAvailable(waits)),
          days: settings().values.batch_ledger_days ?? 30,
        });
  try {
    const { state } = ledger;
    const { batch } = state;
    const isOver = isFinished(state);
    const isResumed = ledger.origin === 'resumed';
    if (isResumed) await requireSameOptions(input, args, state, userData);
    const newBatch = (): string => newBatchHint(ledger, batch.names, args, profileOptions(), userData);
    requireProfile(context, batch, newBatch);
    if (isDryRun) return await dryRun(state.missing(), batch);
    const api = await actor.api();
    // The rows of a finished batch are facts about this account, too.
    const current = isResumed
      ? await withRetry(
          () => requireAccount(actor, state, waits, newBatch()),
          `resume with \`${resumeCommand(ledger.path, args, profileOptions(), userData)}\``,
        )
      : accountOf(batch);
    if (isPlan) return await plan(state);
    if (context.prompts.interactive && !isOver) await io.output.note(`Creates droplets as ${actor.describe(current)}.`);
    return await runBatch(io, ledger, args, {
      ...{ api, userData, loginHints: loginHints(), onPause: waits.onPause, timeout: context.timeout },
      ...{ batchSize, concurrency, maxWait, profileOptions: profileOptions() },
      waitTimeout: args.has('wait') ? waitTimeout : undefined,
      retry,
    });
  } finally {
    await ledger.close();
  }
}

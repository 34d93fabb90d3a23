import type { RefusedRequestHints } from '../../api/api-response.ts';
import type { ApiClient } from '../../api/client.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { formatTextTable } from '../../cli/formats/table.ts';
import type { OutputRowPages } from '../../cli/write-list.ts';
import { CliError, type ExitCode, usageError } from '../../errors.ts';
import { listenForBatchInterruption } from '../batch-interruption.ts';
import { type BatchIo, omitBatchNoticesForJson } from '../batch-io.ts';
import { type BackpressureRowStream, startBatchRowStream } from '../report/row-stream.ts';
import { getBatchTimeLimitsFromEnvironment } from '../sending/batch-time-limits.ts';
import { createRateLimitedSender } from '../sending/rate-limited-sender.ts';
import { type DropletDeletionDeps, deleteDropletById } from './delete-droplet-by-id.ts';
import { formatDropletCount, printDropletDeletionSummary } from './deletion-end.ts';
import {
  type DropletDeletionRow,
  type DropletToDelete,
  dropletDeletionListView,
  dropletToDeleteListView,
} from './deletion-rows.ts';

export interface ConfirmAndDeleteDropletsOptions {
  readonly loginHints: RefusedRequestHints;
  /** The maximum number of requests that are sent at the same time. */
  readonly concurrency: number;
  /** The longest wait for the rate limit in milliseconds; if the limit requires a longer wait, the run ends. */
  readonly maxWait: number;
  /** Called before a wait for the rate limit. @param ms milliseconds */
  readonly onPause: (ms: number) => Promise<void>;
  /** Whether to print the droplets without deleting them. */
  readonly isDryRun: boolean;
  /** The account that deletes the droplets, which the confirmation names. */
  readonly actor?: string;
  /** Options that select the same profile and servers, quoted for a shell. */
  readonly profileOptions: readonly string[];
  /** Called for each deleted droplet. An exception of the callback ends the run. */
  readonly onDeleted?: (droplet: DropletToDelete) => void;
}

/**
 * Shows the droplets, asks for a confirmation, deletes the droplets by id, and prints one row for each. Resolves with exit code
 * 0 when every droplet was deleted, and with 5 when only some were. If no droplet was deleted, throws the error that stopped
 * the run; throws `usage` without a terminal and without `--yes`.
 */
export async function confirmAndDeleteDroplets(
  io: CommandIo,
  api: ApiClient,
  droplets: readonly DropletToDelete[],
  options: ConfirmAndDeleteDropletsOptions,
): Promise<ExitCode> {
  const targets = [...new Map(droplets.map((droplet) => [droplet.id, droplet])).values()];
  if (options.isDryRun) {
    await io.output.list(targets, dropletToDeleteListView);
    return 0;
  }
  if (targets.length > 0) await confirmDeletion(io, targets, options.actor);
  return runDeletion(omitBatchNoticesForJson(io), api, targets, options);
}

/** Checks, before any request, that the rows can be printed and that the user can be asked for confirmation. Throws `usage`. */
export function requireConfirmableAndPrintableDeletion(io: CommandIo, isDryRun: boolean): void {
  if (isDryRun) io.output.checkColumns(dropletToDeleteListView);
  else {
    io.output.checkColumns(dropletDeletionListView);
    requireConfirmable(io);
  }
}

/** Throws `usage` when confirmation is neither given with `--yes` nor possible with a prompt. */
function requireConfirmable({ prompts, globals }: Pick<CommandIo, 'prompts' | 'globals'>): void {
  if (prompts.interactive || globals.has('yes')) return;
  throw usageError(
    'cannot ask for a confirmation: standard input or standard error is not a terminal, or --no-input was given',
    'see what would be deleted with `--dry-run`, then confirm with `--yes`',
  );
}

async function confirmDeletion(io: CommandIo, targets: readonly DropletToDelete[], actor?: string): Promise<void> {
  requireConfirmable(io);
  const isAsked = !io.globals.has('yes');
  const lines = await listLines(targets);
  // The droplets are shown to the user before the confirmation, whatever the output format.
  if (isAsked) await io.output.show(lines);
  else await omitBatchNoticesForJson(io).output.note(lines);
  const who = actor === undefined ? '' : ` as ${actor}`;
  if (await io.prompts.confirm({ message: `Delete ${formatDropletCount(targets.length)}${who}?` })) return;
  throw new CliError('cancelled', 'no droplet was deleted', { hint: 'run the command again to delete the droplets' });
}

async function listLines(targets: readonly DropletToDelete[]): Promise<readonly string[]> {
  const { columns } = dropletToDeleteListView;
  const table = await formatTextTable({
    header: columns.map(({ name }) => name),
    rows: targets.map((target) => columns.map(({ value }) => String(value(target) ?? ''))),
  });
  return ['Droplets to delete:', ...table.trimEnd().split('\n')];
}

async function runDeletion(
  io: BatchIo,
  api: ApiClient,
  targets: readonly DropletToDelete[],
  options: ConfirmAndDeleteDropletsOptions,
): Promise<ExitCode> {
  const { host, output, progress } = io;
  const { clock } = host;
  const { loginHints, maxWait: maxPause, onPause, concurrency, profileOptions } = options;
  const timings = getBatchTimeLimitsFromEnvironment(host.env);
  const interruption = listenForBatchInterruption(host, timings.interruptLimit);
  const { ending, ended } = interruption;
  const rows = new Map<number, DropletDeletionRow>();
  let stopped: CliError | undefined;
  let unexpected: { readonly error: unknown } | undefined;
  const isStopped = (): boolean => stopped !== undefined || unexpected !== undefined;
  const lane = createRateLimitedSender({ api, loginHints, clock, maxPause, onPause });
  const deps: DropletDeletionDeps = { lane, clock, timings, loginHints, ending, ended, isStopped };
  const stream = output.format === 'ndjson' ? streamRows(io) : undefined;
  const queue = targets.values();
  const showProgress = progress.count('droplets deleted');
  let deleted = 0;
  const work = async (): Promise<void> => {
    // All workers take droplets from the same iterator.
    for (const target of queue) {
      if (isStopped() || ending.aborted) return;
      const { result, stop } = await deleteDropletById(target.id, deps);
      stopped ??= stop;
      if (result === undefined) continue;
      const row = { ...target, ...result };
      rows.set(target.id, row);
      if (result.status === 'deleted') options.onDeleted?.(target);
      await stream?.push([row]);
      if (result.status === 'deleted') showProgress(++deleted, targets.length);
    }
  };
  const workSafely = (): Promise<void> =>
    work().catch((error: unknown) => {
      unexpected ??= { error };
    });
  try {
    await Promise.all(Array.from({ length: Math.min(concurrency, targets.length) }, workSafely));
    await progress.stop();
    const notSent = `not sent: ${stopped?.message ?? 'interrupted'}`;
    const complete = targets.map((target) => rows.get(target.id) ?? notSentRow(target, notSent));
    const outputError = unexpected === undefined ? await printRows(io, stream, complete, rows) : unexpected;
    if (outputError !== undefined && !(outputError.error instanceof CliError)) throw outputError.error;
    const signal = interruption.receivedSignal();
    const failure = outputError?.error instanceof CliError ? outputError.error : undefined;
    return await printDropletDeletionSummary(io, {
      rows: complete,
      stopped,
      outputError: failure,
      signal,
      profileOptions,
    });
  } finally {
    await progress.stop();
    interruption.stop();
  }
}

function notSentRow(target: DropletToDelete, error: string): DropletDeletionRow {
  return { ...target, status: 'failed', error };
}

/** Milliseconds between two writes of rows. */
const flushInterval = 100;

function streamRows({ output, host }: BatchIo): BackpressureRowStream<DropletDeletionRow> {
  async function* pages(batches: AsyncIterable<readonly DropletDeletionRow[]>): OutputRowPages<DropletDeletionRow> {
    for await (const rows of batches) yield { rows: () => rows };
  }
  return startBatchRowStream(
    (batches: AsyncIterable<readonly DropletDeletionRow[]>) => output.pages(pages(batches), dropletDeletionListView),
    {
      pause: (over) => host.clock.sleep(flushInterval, over).catch(() => {}),
    },
  );
}

/** Prints the rows that were not yet printed. Resolves with the error of stdout, or undefined after success. */
async function printRows(
  { output }: BatchIo,
  stream: BackpressureRowStream<DropletDeletionRow> | undefined,
  complete: readonly DropletDeletionRow[],
  printed: ReadonlyMap<number, DropletDeletionRow>,
): Promise<{ readonly error: unknown } | undefined> {
  try {
    if (stream === undefined) await output.list(complete, dropletDeletionListView);
    else {
      await stream.push(complete.filter(({ id }) => !printed.has(id)));
      await stream.end();
    }
    return undefined;
  } catch (error) {
    return { error };
  }
}

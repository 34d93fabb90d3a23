import type { Actor } from '../api/actor.ts';
import { type RefusedHints, readErrorBody } from '../api/api-response.ts';
import type { ApiClient } from '../api/client.ts';
import type { Droplet, DropletReader } from '../api/droplets.ts';
import { CliError, type ExitCode, usageError, withHint } from '../base/errors.ts';
import { isJsonRecord, readStringField } from '../base/json.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import { countOf } from '../base/text.ts';
import type { ListView } from '../cli/columns.ts';
import type { ParsedArgs } from '../cli/command.ts';
import { type CommandIo, pauseOf, quietForJson, showPause } from '../cli/command-io.ts';
import { formatTable } from '../cli/formats.ts';
import type { SignalName } from '../platform/host.ts';
import { interruptedError } from '../platform/signals.ts';
import { offlineHint, type ProfileIo, requireAccount, requireProfile } from './account.ts';
import { type Numeric, numericIds } from './events.ts';
import { type BatchIo, listenForInterruption, type RowStream, type Run, streamRows } from './io.ts';
import { createLane } from './lane.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { readLimits } from './limits.ts';
import { type Outcome, outcomeOf, outcomeOfError } from './request.ts';
import { noteDeleted } from './running.ts';
import { findByIds, readBatchDroplets } from './show.ts';
import type { BatchState } from './state.ts';
import { findLedger } from './stored.ts';
import { timeLimits } from './times.ts';

export interface DeleteOptions {
  readonly loginHints: RefusedHints;
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
}

/**
 * Shows the droplets, asks for a confirmation, deletes the droplets by id, and prints one row for each. Resolves with exit code
 * 0 when every droplet was deleted, and with 5 when only some were. If no droplet was deleted, throws the error that stopped
 * the run; throws `usage` without a terminal and without `--yes`.
 */
export async function deleteDroplets(
  io: CommandIo,
  api: ApiClient,
  droplets: readonly Droplet[],
  options: DeleteOptions,
): Promise<ExitCode> {
  const profileOptions = deletionOptions(io, options.profileOptions);
  return deleteTargets(io, api, droplets.map(toTarget), { ...options, profileOptions });
}

/**
 * Deletes the droplets that the batch of the first argument created, as `deleteDroplets` does, and records the deletions in its
 * ledger.
 */
export async function deleteBatch(context: ProfileIo, actor: Actor, args: ParsedArgs): Promise<ExitCode> {
  const { concurrency, maxWait } = readLimits(args);
  const isDryRun = args.has('dry-run');
  requireDeletable(context, isDryRun);
  const { host } = context;
  const ledger = await openLedger(findLedger(host.folders.state, args.positionals[0] ?? ''), host);
  try {
    const { state } = ledger;
    requireProfile(context, state.batch, () => offlineHint(ledger.path));
    const api = await actor.api();
    const io = quietForJson(context);
    const onPause = showPause(io);
    const current = await requireAccount(actor, state, { maxWait, onPause });
    return await deleteOfLedger(
      context,
      ledger,
      { api, pause: pauseOf(io), onProgress: io.progress.count('droplets') },
      {
        loginHints: actor.loginHints(),
        concurrency,
        maxWait,
        onPause,
        isDryRun,
        ...(context.prompts.interactive ? { actor: actor.describe(current) } : {}),
        profileOptions: deletionOptions(context, actor.profileOptions()),
      },
    );
  } finally {
    await ledger.close();
  }
}

async function deleteOfLedger(
  io: CommandIo,
  ledger: Ledger,
  reader: DropletReader,
  options: DeleteOptions,
): Promise<ExitCode> {
  const { state } = ledger;
  const { output, progress } = quietForJson(io);
  const targets = await findBatchTargets(state, reader).finally(() => progress.stop());
  if (targets.length === 0) await output.note('The ledger has no droplet to delete.');
  // The names of the ledger are used, because the server may write a name in another case.
  const names = new Map([...state.rows()].flatMap((row) => (row.status === 'created' ? [[row.id, row.name]] : [])));
  const unknown = [...state.rows()].flatMap(({ name, status }) => (status === 'unknown' ? [name] : []));
  if (unknown.length > 0)
    await output.note(`Not deleted, because the result of these names is unknown: ${listNames(unknown)}.`);
  return deleteTargets(io, reader.api, targets, options, ({ id }) =>
    ledger.record({ event: 'deleted', rows: [{ name: names.get(id) ?? '', id }] }),
  );
}

function listNames(names: readonly string[]): string {
  const listed = names.slice(0, 20).join(', ');
  return names.length > 20 ? `${listed} and ${names.length - 20} more` : listed;
}

/** @param onDeleted called for each deleted droplet; an exception of it ends the run */
async function deleteTargets(
  io: CommandIo,
  api: ApiClient,
  droplets: readonly Target[],
  options: DeleteOptions,
  onDeleted?: (target: Target) => void,
): Promise<ExitCode> {
  const targets = [...new Map(droplets.map((droplet) => [droplet.id, droplet])).values()];
  if (options.isDryRun) {
    await io.output.list(targets.map(numericIds), targetView);
    return 0;
  }
  if (targets.length > 0) await confirmDeletion(io, targets, options.actor);
  return runDeletion(quietForJson(io), api, targets, options, onDeleted);
}

/** Checks, before any request, that the rows can be printed and that the user can be asked for confirmation. Throws `usage`. */
export function requireDeletable(io: CommandIo, isDryRun: boolean): void {
  if (isDryRun) io.output.checkColumns(targetView);
  else {
    io.output.checkColumns(deletionView);
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

async function confirmDeletion(io: CommandIo, targets: readonly Target[], actor?: string): Promise<void> {
  requireConfirmable(io);
  const isAsked = !io.globals.has('yes');
  const lines = await listLines(targets);
  // The droplets are shown to the user before the confirmation, whatever the output format.
  if (isAsked) await io.output.show(lines);
  else await quietForJson(io).output.note(lines);
  const who = actor === undefined ? '' : ` as ${actor}`;
  if (await io.prompts.confirm({ message: `Delete ${countOf(targets.length, 'droplet')}${who}?` })) return;
  throw new CliError('cancelled', 'no droplet was deleted', { hint: 'run the command again to delete the droplets' });
}

async function listLines(targets: readonly Target[]): Promise<readonly string[]> {
  const { columns } = targetView;
  const table = await formatTable({
    header: columns.map(({ name }) => name),
    rows: targets.map(numericIds).map((row) => columns.map(({ value }) => String(value(row) ?? ''))),
  });
  return ['Droplets to delete:', ...table.trimEnd().split('\n')];
}

async function runDeletion(
  io: BatchIo,
  api: ApiClient,
  targets: readonly Target[],
  options: DeleteOptions,
  onDeleted?: (target: Target) => void,
): Promise<ExitCode> {
  const { host, progress } = io;
  const { clock } = host;
  const { loginHints, maxWait: maxPause, onPause, concurrency, profileOptions } = options;
  const times = timeLimits(host.env);
  const interruption = listenForInterruption(host, times.interruptLimit);
  const { ending, ended } = interruption;
  const rows = new Map<string, DeletionRow>();
  let stopped: CliError | undefined;
  let unexpected: { readonly error: unknown } | undefined;
  const isStopped = (): boolean => stopped !== undefined || unexpected !== undefined;
  const lane = createLane({ api, loginHints, clock, maxPause, onPause });
  const run: DeletionRun = { lane, clock, times, ending, ended, isStopped };
  const stream = streamRows(io, deletionView, (row: DeletionRow) => numericIds(row));
  const queue = targets.values();
  const showProgress = progress.count('droplets deleted');
  let deleted = 0;
  const work = async (): Promise<void> => {
    // All workers take droplets from the same iterator.
    for (const target of queue) {
      if (isStopped() || ending.aborted) return;
      const { result, stop } = await deleteDroplet(target.id, run);
      stopped ??= stop;
      if (result === undefined) continue;
      const row = { ...target, ...result };
      rows.set(target.id, row);
      if (result.status === 'deleted') onDeleted?.(target);
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
    const gone = [...rows.values()].flatMap(({ id, status }) => (status === 'deleted' ? [id] : []));
    await noteDeleted(host, api.baseOrigin, new Set(gone));
    const notSent = `not sent: ${stopped?.message ?? 'interrupted'}`;
    const complete = targets.map((target) => rows.get(target.id) ?? notSentRow(target, notSent));
    const outputError = unexpected === undefined ? await printRows(io, stream, complete, rows) : unexpected;
    if (outputError !== undefined && !(outputError.error instanceof CliError)) throw outputError.error;
    const signal = interruption.receivedSignal();
    const failure = outputError?.error instanceof CliError ? outputError.error : undefined;
    return await reportDeletion(io, {
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

function notSentRow(target: Target, error: string): DeletionRow {
  return { ...target, status: 'failed', error };
}

/** Prints the rows that were not yet printed. Resolves with the error of stdout, or undefined after success. */
async function printRows(
  { output }: BatchIo,
  stream: RowStream<DeletionRow> | undefined,
  complete: readonly DeletionRow[],
  printed: ReadonlyMap<string, DeletionRow>,
): Promise<{ readonly error: unknown } | undefined> {
  try {
    if (stream === undefined) await output.list(complete.map(numericIds), deletionView);
    else {
      await stream.push(complete.filter(({ id }) => !printed.has(id)));
      await stream.end();
    }
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** The result of the deletion of one droplet. */
type DeletionResult =
  /** `already_gone`: another request deleted the droplet after it was shown. */
  | { readonly status: 'deleted'; readonly already_gone?: true }
  | { readonly status: 'failed' | 'unknown'; readonly error: string };

/** @property isStopped whether an error has stopped the run, so that no further request is sent */
type DeletionRun = Pick<Run, 'lane' | 'clock' | 'times' | 'ending' | 'ended'> & {
  readonly isStopped: () => boolean;
};

interface Deletion {
  /** The result of the deletion; undefined when no request was sent. */
  readonly result: DeletionResult | undefined;
  /** An error after which every other request would fail, too. */
  readonly stop?: CliError;
}

type DeletionOutcome = Exclude<Outcome, { kind: 'created' }> | { readonly kind: 'deleted' } | { readonly kind: 'gone' };

const maxSends = 5;

/**
 * Deletes one droplet by its id. A request without a clear result is sent again, which cannot delete another droplet. If the
 * result is still not clear, the droplet is looked up: if it does not exist, it counts as deleted.
 */
export async function deleteDroplet(id: string, deps: DeletionRun): Promise<Deletion> {
  const { lane, clock, times, ending, isStopped } = deps;
  let doubt: string | undefined;
  let refused: string | undefined;
  let stop: CliError | undefined;
  for (let sends = 0; sends < maxSends && !ending.aborted && !isStopped(); ) {
    try {
      if (doubt !== undefined) await clock.sleep(times.pollInterval * sends, ending);
      await lane.waitForTurn(ending);
    } catch (error) {
      if (ending.aborted) break;
      if (!(error instanceof CliError)) throw error;
      stop = error;
      break;
    }
    const outcome = await sendDeletion(id, deps);
    if (outcome.kind === 'deleted') return { result: { status: 'deleted' } };
    if (outcome.kind === 'gone')
      return { result: { status: 'deleted', ...(doubt === undefined ? { already_gone: true } : {}) } };
    if (outcome.kind === 'throttled') {
      // The server refused the request because of its rate limit: the attempt does not count, and the next request waits.
      refused = outcome.error;
      continue;
    }
    sends += 1;
    if (outcome.kind === 'uncertain') {
      doubt = outcome.error;
      continue;
    }
    refused = outcome.error;
    stop = outcome.stop;
    break;
  }
  const ended = stop === undefined ? {} : { stop };
  if (doubt !== undefined) return { result: await settleDeletion(id, refused ?? doubt, deps), ...ended };
  return { result: refused === undefined ? undefined : { status: 'failed', error: refused }, ...ended };
}

async function sendDeletion(id: string, { lane, ended }: DeletionRun): Promise<DeletionOutcome> {
  const request = { method: 'DELETE', path: `/v2/droplets/${id}`, until: ended };
  try {
    const response = await lane.request(request);
    if (response.status === 204) return { kind: 'deleted' };
    // A 404 without `id=not_found` may come from a proxy, or from a server without this path: the droplet may still exist.
    if (response.status === 404 && readErrorBody(response).id === 'not_found') return { kind: 'gone' };
    const outcome = outcomeOf({ ...request, names: [] }, response, lane.loginHints);
    return outcome.kind === 'created' ? { kind: 'uncertain', error: unexpectedResponse } : outcome;
  } catch (error) {
    if (ended.aborted) return { kind: 'uncertain', error: 'no response arrived before the interruption' };
    if (!(error instanceof CliError)) throw error;
    return outcomeOfError(error);
  }
}

const unexpectedResponse = 'could not parse the response';

/** Looks up a droplet whose deletion was sent without a clear result. */
async function settleDeletion(id: string, error: string, deps: DeletionRun): Promise<DeletionResult> {
  const { lane, ended } = deps;
  const unknown = (reason: string): DeletionResult => ({
    status: 'unknown',
    error: `${error}; ${reason}`,
  });
  try {
    for (;;) {
      await lane.waitForTurn(ended);
      const response = await lane.request({ method: 'GET', path: `/v2/droplets/${id}`, until: ended });
      if (response.status === 429) continue;
      if (response.status === 404 && readErrorBody(response).id === 'not_found') return { status: 'deleted' };
      if (response.status === 200) return unknown('the droplet still exists');
      return unknown(`could not look up the droplet: the server responded with ${response.status}`);
    }
  } catch (thrown) {
    if (ended.aborted) return unknown('interrupted');
    if (!(thrown instanceof CliError)) throw thrown;
    return unknown(`could not look up the droplet: ${thrown.message}`);
  }
}

interface DeletionEnd {
  /** One row for each droplet. */
  readonly rows: readonly DeletionRow[];
  /** The error that stopped the run before every droplet was processed. */
  readonly stopped: CliError | undefined;
  /** The error that prevented rows from being printed. */
  readonly outputError: CliError | undefined;
  readonly signal: SignalName | undefined;
  /** Options that select the same profile and servers, quoted for a shell. */
  readonly profileOptions: readonly string[];
}

/**
 * Prints the summary of a deletion. Resolves with exit code 0 when every droplet was deleted, and with 5 when some were deleted
 * or the result of some is unknown. If no droplet was deleted, throws the error that stopped the run.
 */
export async function reportDeletion({ output }: Pick<BatchIo, 'output'>, end: DeletionEnd): Promise<ExitCode> {
  const { rows, stopped, outputError, signal } = end;
  const count = (status: DeletionRow['status']): number => rows.filter((row) => row.status === status).length;
  const [deleted, failed, unknown] = [count('deleted'), count('failed'), count('unknown')];
  const summary = `${deleted} deleted, ${failed} failed, ${unknown} unknown`;
  const left = rows.filter((row) => row.status !== 'deleted');
  const hint = left.length === 0 ? undefined : deleteAgainHint(left, end.profileOptions);
  if (signal !== undefined) {
    const { message, exitCode } = interruptedError(signal);
    throw new CliError('cancelled', message, { exitCode, detail: `${summary}${leftText(left)}`, hint });
  }
  if (outputError !== undefined) {
    const { code, message } = outputError;
    const detail = `${summary}; not all rows were printed`;
    throw new CliError(code, message, { detail, hint });
  }
  const gone = rows.filter((row) => row.status === 'deleted' && row.already_gone === true);
  if (gone.length > 0)
    await output.note(
      `Already gone when the request arrived: ${gone.map(({ id, name }) => `${name} (${id})`).join(', ')}.`,
    );
  if (left.length === 0) {
    if (rows.length > 0) await output.note(`${countOf(deleted, 'droplet')} deleted.`);
    return 0;
  }
  if (deleted + unknown === 0) {
    if (stopped !== undefined) throw stopped.hint === undefined ? withHint(stopped, hint) : stopped;
    throw new CliError('api_error', 'no droplet was deleted', { detail: causes(left).join('; '), hint });
  }
  const reasons = stopped === undefined ? causes(left) : [`stopped: ${stopped.message}`];
  const again = stopped?.exitCode === 4 && stopped.hint !== undefined ? `${stopped.hint}; then ${hint}` : hint;
  await output.error(
    new CliError('batch_partial', `${deleted} of ${rows.length} droplets were deleted`, {
      detail: [summary, ...reasons].join('; '),
      hint: again,
    }),
  );
  return 5;
}

/** Where the command could not ask for a confirmation, the command of its hint cannot ask either. */
function deletionOptions({ prompts }: Pick<CommandIo, 'prompts'>, options: readonly string[]): readonly string[] {
  return prompts.interactive ? options : [...options, '--yes'];
}

/** A longer list of ids makes an error message hard to read; the printed rows contain every id. */
const maxListed = 20;

function leftText(left: readonly DeletionRow[]): string {
  if (left.length === 0) return '';
  const listed = left.slice(0, maxListed).map(({ id, name }) => `${name} (${id})`);
  const more = left.length > maxListed ? ` and ${left.length - maxListed} more` : '';
  return `; left: ${listed.join(', ')}${more}`;
}

function deleteAgainHint(left: readonly DeletionRow[], profileOptions: readonly string[]): string {
  if (left.length > maxListed) return 'run the command again with `--if-missing skip` to delete the remaining droplets';
  const ids = left.map(({ id }) => id);
  return `delete the remaining droplets with \`${['cloudctl droplets delete', ...ids, '--if-missing skip', ...profileOptions].join(' ')}\``;
}

/**
 * The error messages of the rows, each message once. The error of a row with an unknown result contains the path of the
 * droplet, so only the first few errors are printed.
 */
function causes(left: readonly DeletionRow[]): readonly string[] {
  const errors = new Set(left.flatMap((row) => (row.status === 'deleted' ? [] : [row.error])));
  const more = errors.size > 3 ? [`and ${errors.size - 3} more`] : [];
  return [...[...errors].slice(0, 3), ...more];
}

/** A droplet to delete, with the fields that are shown before the deletion. */
interface Target {
  readonly id: string;
  readonly name: string;
  readonly region?: string | undefined;
  /** ISO 8601. */
  readonly created_at?: string | undefined;
}

export type DeletionRow = Target & DeletionResult;

/** The columns that identify a droplet in the confirmation and in `--dry-run`. */
const targetView: ListView<Numeric<Target>> = {
  columns: [
    { name: 'ID', value: (row) => row.id },
    { name: 'Name', value: (row) => row.name },
    { name: 'Region', value: (row) => row.region },
    { name: 'CreatedAt', value: (row) => row.created_at },
  ],
};

const deletionView: ListView<Numeric<DeletionRow>> = {
  columns: [
    { name: 'ID', value: (row) => row.id },
    { name: 'Name', value: (row) => row.name },
    { name: 'Status', value: (row) => row.status },
    { name: 'Error', value: (row) => (row.status === 'deleted' ? undefined : row.error) },
    { name: 'Region', value: (row) => row.region, extra: true },
    { name: 'CreatedAt', value: (row) => row.created_at, extra: true },
    { name: 'AlreadyGone', value: (row) => row.status === 'deleted' && row.already_gone === true, extra: true },
  ],
};

/** Selects the fields of a droplet that are shown before the deletion. */
export function toTarget({ id, name, raw }: Droplet): Target {
  const region = isJsonRecord(raw.region) ? readStringField(raw.region, 'slug') : undefined;
  return { id, name, region, created_at: readStringField(raw, 'created_at') };
}

/**
 * Finds the droplets that the batch created, with their current data on the server. A droplet that the server does not list may
 * have been deleted, or the list may be outdated; it is returned with its name from the ledger. Throws a usage error when a
 * droplet has another name than in the ledger: the ledger may have been edited, or belong to another server at the same
 * address.
 */
export async function findBatchTargets(state: BatchState, reader: DropletReader): Promise<readonly Target[]> {
  const rows = [...state.rows()].flatMap((row) => (row.status === 'created' ? [row] : []));
  if (rows.length === 0) return [];
  const listed = await readBatchDroplets(state, reader);
  const left = rows.flatMap(({ id }) => (listed.has(id) ? [] : [id]));
  // A droplet whose batch tag was removed is not in the list of droplets with that tag.
  const others = state.batch.content_hash !== undefined && left.length > 0 ? await findByIds(left, reader) : listed;
  const found = rows.map(({ id, name }) => ({ id, name, droplet: listed.get(id) ?? others.get(id) }));
  const renamed = found.filter(
    ({ name, droplet }) => droplet !== undefined && droplet.name.toLowerCase() !== name.toLowerCase(),
  );
  if (renamed.length > 0)
    throw usageError(
      `${countOf(renamed.length, 'droplet has', 'droplets have')} another name than in the ledger`,
      'check these droplets with `cloudctl droplets get ID`; `cloudctl droplets delete ID` deletes a droplet of any name',
      `${renamed
        .slice(0, 20)
        .map(
          ({ id, name, droplet }) => `droplet ${id} is named ${sanitizeLine(droplet?.name ?? '')} instead of ${name}`,
        )
        .join('; ')}; nothing was deleted`,
    );
  const { region } = state.batch.attributes;
  return found.map(({ id, name, droplet }) => {
    const shown = toTarget(droplet ?? { id, name, raw: {} });
    return droplet === undefined ? { ...shown, region } : shown;
  });
}

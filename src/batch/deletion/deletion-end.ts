import { CliError, type ExitCode } from '../../errors.ts';
import { interruptedError } from '../../platform/defer-signals.ts';
import type { SignalName } from '../../platform/host.ts';
import type { BatchIo } from '../batch-io.ts';
import type { DropletDeletionRow } from './deletion-rows.ts';

export interface DropletDeletionRunResult {
  /** One row for each droplet. */
  readonly rows: readonly DropletDeletionRow[];
  /** The error that stopped the run before every droplet was processed. */
  readonly stopped: CliError | undefined;
  /** The error that prevented rows from being printed. */
  readonly outputError: CliError | undefined;
  readonly signal: SignalName | undefined;
  /** Options that select the same profile and servers, quoted for a shell. */
  readonly profileOptions: readonly string[];
}

export function formatDropletCount(count: number): string {
  return count === 1 ? '1 droplet' : `${count} droplets`;
}

/**
 * Prints the summary of a deletion. Resolves with exit code 0 when every droplet was deleted, and with 5 when some were deleted
 * or the result of some is unknown. If no droplet was deleted, throws the error that stopped the run.
 */
export async function printDropletDeletionSummary(
  { output }: Pick<BatchIo, 'output'>,
  end: DropletDeletionRunResult,
): Promise<ExitCode> {
  const { rows, stopped, outputError, signal } = end;
  const count = (status: DropletDeletionRow['status']): number => rows.filter((row) => row.status === status).length;
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
    throw new CliError(code, message, { detail, hint, ...(deleted + unknown > 0 ? { exitCode: 5 as const } : {}) });
  }
  const gone = rows.filter((row) => row.status === 'deleted' && row.already_gone === true);
  if (gone.length > 0)
    await output.note(
      `Already gone when the request arrived: ${gone.map(({ id, name }) => `${name} (${id})`).join(', ')}.`,
    );
  if (left.length === 0) {
    if (rows.length > 0) await output.note(`${formatDropletCount(deleted)} deleted.`);
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

/** A longer list of ids makes an error message hard to read; the printed rows contain every id. */
const maxListed = 20;

function leftText(left: readonly DropletDeletionRow[]): string {
  if (left.length === 0) return '';
  const listed = left.slice(0, maxListed).map(({ id, name }) => `${name} (${id})`);
  const more = left.length > maxListed ? ` and ${left.length - maxListed} more` : '';
  return `; left: ${listed.join(', ')}${more}`;
}

function deleteAgainHint(left: readonly DropletDeletionRow[], profileOptions: readonly string[]): string {
  if (left.length > maxListed) return 'run the command again with `--if-missing skip` to delete the remaining droplets';
  const ids = left.map(({ id }) => id);
  return `delete the remaining droplets with \`${['cloudctl droplets delete', ...ids, '--if-missing skip', ...profileOptions].join(' ')}\``;
}

/**
 * The error messages of the rows, each message once. The error of a row with an unknown result contains the path of the
 * droplet, so only the first few errors are printed.
 */
function causes(left: readonly DropletDeletionRow[]): readonly string[] {
  const errors = new Set(left.flatMap((row) => (row.status === 'deleted' ? [] : [row.error])));
  const more = errors.size > 3 ? [`and ${errors.size - 3} more`] : [];
  return [...[...errors].slice(0, 3), ...more];
}

function withHint({ code, message, detail, status, requestId, exitCode, cause }: CliError, hint?: string): CliError {
  return new CliError(code, message, { detail, hint, status, requestId, exitCode, cause });
}

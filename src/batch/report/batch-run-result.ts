import type { CommandIo } from '../../cli/command-io.ts';
import { CliError, type ExitCode } from '../../errors.ts';
import { interruptedError } from '../../platform/defer-signals.ts';
import type { SignalName } from '../../platform/host.ts';
import type { BatchLedgerState } from '../ledger/batch-ledger-state.ts';
import { DropletLimitError } from '../sending/droplet-limit.ts';
import { applyWaitFailuresToStatusCounts, type DropletWaitResults } from '../waiting/wait-results.ts';

export interface BatchRunResult {
  readonly state: BatchLedgerState;
  readonly results: DropletWaitResults;
  /** The error that stopped the batch before every name was processed. */
  readonly stopped: CliError | undefined;
  /** The error that prevented rows from being printed. */
  readonly outputError: CliError | undefined;
  readonly signal: SignalName | undefined;
  /** The shell command that resumes the batch. */
  readonly resume: string;
  /** Whether the run used `--wait`, and so also waited until the droplets were active. */
  readonly wait: boolean;
  /** Options that select the same profile and servers, quoted for a shell. */
  readonly profileOptions: readonly string[];
}

/**
 * Prints the summary of a batch. Resolves with exit code 0 when every droplet exists, and with 5 when some were created or some
 * results are unknown. Throws the error that stopped the batch when no droplet was created.
 */
export async function reportBatchEnd(
  { output }: Pick<CommandIo, 'output'>,
  batchEnd: BatchRunResult,
): Promise<ExitCode> {
  const { state, results, stopped, outputError, signal, resume, wait } = batchEnd;
  const { created, skipped, failed, missing, unknown } = state.counts();
  const total = state.batch.names.length;
  const left = failed + missing + unknown;
  if (outputError !== undefined && signal === undefined && created + unknown > 0) {
    const { code, message } = outputError;
    const detail = `${created} of ${total} droplets were created, but not all rows were printed`;
    throw new CliError(code, message, { detail, hint: `print the rows with \`${resume}\``, exitCode: 5 });
  }
  if (outputError !== undefined && signal === undefined) throw outputError;
  if (signal === undefined && left === 0) {
    // If every droplet exists, only the wait for active droplets or the last write to the ledger can have failed.
    if (stopped !== undefined) {
      await output.note(`All ${total} droplets were created.`);
      const again = `resume with \`${resume}\``;
      throw withHint(stopped, stopped.hint === undefined ? again : `${stopped.hint}; then ${again}`);
    }
    if (results.failures.size > 0) return reportNotActive({ output }, batchEnd);
    await output.note(`${created} created${skipped === 0 ? '' : `, ${skipped} skipped`}.`);
    return 0;
  }
  const hint = `resume with \`${resume}\``;
  const lost = results.failures.size;
  const summary = `${created - lost} created, ${failed + missing + lost} failed, ${unknown} unknown${skipped === 0 ? '' : `, ${skipped} skipped`}`;
  if (signal !== undefined) {
    const { message, exitCode } = interruptedError(signal);
    throw new CliError('cancelled', message, { exitCode, detail: summary, ...(left === 0 && !wait ? {} : { hint }) });
  }
  if (created === 0 && unknown === 0) {
    const error = stopped ?? noneCreatedError(state);
    if (stopped === undefined) await output.note(`The ledger is kept. To send the same requests again: ${resume}`);
    else if (error.hint !== undefined) await output.note(`Resume with: ${resume}`);
    throw error.hint === undefined ? withHint(error, hint) : error;
  }
  const stopReason = [stopped?.message, stopped?.detail].filter((part) => part !== undefined);
  const reasons = stopReason.length === 0 ? distinctErrors(state, 3) : [`stopped: ${stopReason.join(': ')}`];
  await output.error(
    new CliError('batch_partial', `${created} of ${total} droplets were created`, {
      detail: [summary, ...reasons].join('; '),
      hint: afterStop(stopped, failed + missing === 0 ? unresolvedHint(batchEnd, hint) : hint),
      status: stopped?.status,
    }),
  );
  return 5;
}

/**
 * Every droplet was created, but afterwards some were deleted or their create action failed. Names of deleted or failed
 * droplets are never sent again.
 */
async function reportNotActive({ output }: Pick<CommandIo, 'output'>, batchEnd: BatchRunResult): Promise<ExitCode> {
  const { state, results, profileOptions } = batchEnd;
  const { created, failed } = applyWaitFailuresToStatusCounts(state.counts(), results);
  const [first] = [...state.rows()].filter((row) => row.status === 'created' && results.failures.has(row.id));
  const list = ['cloudctl droplets list', first?.name, ...profileOptions].join(' ');
  const causes = [...new Set(results.failures.values())];
  const more = causes.length > 3 ? [`and ${causes.length - 3} more`] : [];
  await output.error(
    new CliError('batch_partial', `${failed} of ${created + failed} droplets cannot become active`, {
      detail: [...causes.slice(0, 3), ...more].join('; '),
      hint: `check the names with \`${list}\`, and create missing droplets with a new batch`,
    }),
  );
  return 5;
}

/** Without a new session or a larger scope, the resumed batch would stop with the same error. */
function afterStop(stopped: CliError | undefined, hint: string): string {
  const isHintNeeded = stopped?.exitCode === 4 || stopped instanceof DropletLimitError;
  return isHintNeeded && stopped.hint !== undefined ? `${stopped.hint}; then ${hint}` : hint;
}

/** The result of names that must not be sent again can stay unknown, however often the batch is resumed. */
function unresolvedHint({ state, profileOptions }: BatchRunResult, hint: string): string {
  const groups = state.uncertainGroups();
  if (groups.length === 0 || groups.some(({ resend }) => resend)) return hint;
  const list = ['cloudctl droplets list', groups[0]?.names[0], ...profileOptions].join(' ');
  return `${hint} to look up the droplets of these names again; if their status stays unknown, list them with \`${list}\``;
}

function withHint({ code, message, detail, status, requestId, exitCode, cause }: CliError, hint: string): CliError {
  return new CliError(code, message, { detail, hint, status, requestId, exitCode, cause });
}

/** The server refused every request of the batch, and would refuse the same requests again. */
function noneCreatedError(state: BatchLedgerState): CliError {
  return new CliError('api_error', 'no droplet was created', {
    detail: distinctErrors(state, 5).join('; '),
    hint: 'correct the options that the server refused, and run the command again',
  });
}

/** The error messages of the rows, each message once, because the rows themselves may have been written to a file. */
function distinctErrors(state: BatchLedgerState, max: number): readonly string[] {
  const errors = new Set<string>();
  for (const row of state.rows()) if ('error' in row) errors.add(row.error);
  return [...errors].slice(0, max);
}

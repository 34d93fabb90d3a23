import { CliError, type ExitCode, withHint } from '../base/errors.ts';
import { isDiskFull } from '../base/storage-error.ts';
import { formatDuration } from '../base/text.ts';
import type { ListView } from '../cli/columns.ts';
import type { CommandIo } from '../cli/command-io.ts';
import type { RowPages } from '../cli/write-list.ts';
import type { SignalName } from '../platform/host.ts';
import { interruptedError } from '../platform/signals.ts';
import { type Numeric, numericIds } from './events.ts';
import { type BatchIo, streamRows } from './io.ts';
import type { Ledger } from './ledger.ts';
import { LimitError } from './request.ts';
import type { BatchState, Row } from './state.ts';
import { countsAfterWait, type PrintedRow, rowAfterWait, type WaitResults } from './wait.ts';

export const resultView: ListView<Numeric<PrintedRow>> = {
  columns: [
    { name: 'Name', value: (row) => row.name },
    { name: 'Status', value: (row) => row.status, kind: 'state' },
    { name: 'ID', value: (row) => ('id' in row ? row.id : undefined) },
    { name: 'ActionID', value: (row) => (row.status === 'created' ? row.action_id : undefined), priority: 1 },
    { name: 'Error', value: (row) => ('error' in row ? row.error : undefined) },
    { name: 'PublicIPv4', value: (row) => ('public_ipv4' in row ? row.public_ipv4 : undefined) },
    { name: 'Ledger', value: (row) => row.ledger, extra: true },
  ],
};

/** Prints the rows and the progress of a batch while it runs. */
export interface Reporter {
  /** Reports names whose result is final in this run. If the method returns a promise, the caller waits for it. */
  settled(names: readonly string[]): Promise<void> | undefined;
  /** Called when the lookups are over and requests are sent: the rate of the progress counts from here. */
  sending(): void;
  /** Reports droplets for which `--wait` no longer waits. */
  awaited(names: readonly string[]): Promise<void> | undefined;
  /** Prints the rows that were not yet printed. @param notSent error of the names that were never sent */
  end(notSent: string): Promise<void>;
}

interface ReportedRun {
  /** With `--wait`: the row of a created droplet is printed when the wait for the droplet has ended. */
  readonly waits: boolean;
  /** For a batch of one name: whether the ledger file is kept after a run with this result. */
  readonly isLedgerKept: (row: PrintedRow) => boolean;
  /** Whether another try may change the row of this name, so that it is not yet printed. */
  readonly isOpen?: (name: string) => boolean;
}

/**
 * Prints each row as soon as it is known for ndjson, and all rows at the end for the other formats; progress is printed on
 * stderr.
 */
export async function startReporter(
  { output, progress, host }: BatchIo,
  { state, path }: Pick<Ledger, 'state' | 'path'>,
  results: WaitResults,
  { waits, isLedgerKept, isOpen = () => false }: ReportedRun,
): Promise<Reporter> {
  let notSentError = '';
  const printedRow = (row: Row): Numeric<PrintedRow> => {
    const printed = rowAfterWait(row, results);
    return numericIds(isLedgerKept(printed) ? { ...printed, ledger: path } : printed);
  };
  function* allRows(notSent: string): Generator<Numeric<PrintedRow>> {
    for (const row of state.rows(notSent)) yield printedRow(row);
  }
  const io = { output, progress, host };
  const stream = streamRows(io, resultView, (at: number) => printedRow(state.rowAt(at, notSentError)));
  const total = state.batch.names.length;
  const printed = new Uint8Array(stream === undefined ? 0 : total);
  let startedAt = host.clock.now();
  let createdBefore = state.counts().created;
  let created = createdBefore;
  const print = (positions: readonly number[]): Promise<void> | undefined => {
    if (stream === undefined || positions.length === 0) return undefined;
    for (const at of positions) printed[at] = 1;
    return stream.push(positions);
  };
  const printWhere = async (isWanted: (at: number) => boolean): Promise<void> => {
    let positions: number[] = [];
    for (let at = 0; at < total; at++) {
      if (!isWanted(at)) continue;
      positions.push(at);
      if (positions.length < 100) continue;
      await print(positions);
      positions = [];
    }
    await print(positions);
  };
  const showProgress = (previous: number): Promise<void> | undefined => {
    if (!host.stderr.isTTY && !crossesTenth(previous, created, total)) return undefined;
    const state = { created, total, fresh: created - createdBefore, elapsed: host.clock.now() - startedAt };
    return host.stderr.isTTY ? progress.show(formatBar(state)) : output.note(formatProgress(state));
  };
  const isAwaited = (at: number): boolean => waits && ['created', 'skipped'].includes(state.rowAt(at).status);
  await printWhere((at) => state.isPresent(at) && !isAwaited(at));
  await showProgress(created);
  return {
    settled(names) {
      const positions: number[] = [];
      const previous = created;
      for (const name of names) {
        const at = state.positionOf(name);
        if (isOpen(name)) continue;
        const isPresent = state.isPresent(at);
        if (isPresent) created += 1;
        // A failed row without an error text was not sent. Its row is printed at the end, when the reason is known.
        const row = isPresent ? undefined : state.rowAt(at, '');
        if (isPresent ? !isAwaited(at) : row === undefined || !('error' in row) || row.error !== '') positions.push(at);
      }
      const printing = print(positions);
      const showing = showProgress(previous);
      if (printing === undefined || showing === undefined) return printing ?? showing;
      return Promise.all([printing, showing]).then(() => {});
    },
    sending() {
      startedAt = host.clock.now();
      createdBefore = created;
    },
    awaited: (names) => print(names.map((name) => state.positionOf(name)).filter((at) => printed[at] === 0)),
    async end(notSent) {
      await progress.stop();
      if (stream === undefined) return output.list(allRows(notSent), resultView);
      notSentError = notSent;
      await printWhere((at) => printed[at] === 0);
      await stream.end();
    },
  };
}

/** The progress of a batch run. */
interface Progress {
  readonly created: number;
  readonly total: number;
  /** The number of droplets that this run created. */
  readonly fresh: number;
  /** Milliseconds since the run started. */
  readonly elapsed: number;
}

const barWidth = 20;

/** Formats progress as one line for a terminal: progress bar, created/total, rate and remaining time. */
export function formatBar(progress: Progress): string {
  const filled = progress.total === 0 ? 0 : Math.floor((barWidth * progress.created) / progress.total);
  return `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${formatProgress(progress)}`;
}

export function formatProgress({ created, total, fresh, elapsed }: Progress): string {
  const rate = elapsed <= 0 ? 0 : (fresh * 1000) / elapsed;
  const parts = [`${created}/${total} created`];
  if (rate > 0) parts.push(`${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/s`);
  if (rate > 0 && created < total) parts.push(`${formatDuration(Math.ceil((total - created) / rate) * 1000)} left`);
  return parts.join(', ');
}

/** Whether `after` has reached a further tenth of `total` since `before`. */
export function crossesTenth(before: number, after: number, total: number): boolean {
  return Math.floor((10 * before) / total) < Math.floor((10 * after) / total);
}

interface RunEnd {
  readonly state: BatchState;
  readonly results: WaitResults;
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
  /** The error for droplets of a complete ledger that do not exist any more. */
  readonly missing?: CliError | undefined;
}

/**
 * Prints the summary of a batch. Resolves with exit code 0 when every droplet exists, and with 5 when some were created or some
 * results are unknown. Throws the error that stopped the batch when no droplet was created.
 */
export async function reportEnd({ output }: Pick<CommandIo, 'output'>, batchEnd: RunEnd): Promise<ExitCode> {
  const {
    state,
    results,
    stopped,
    outputError,
    signal,
    resume,
    wait,
    profileOptions,
    missing: missingDroplets,
  } = batchEnd;
  const { created, skipped, failed, missing, unknown } = state.counts();
  const total = state.batch.names.length;
  const left = failed + missing + unknown;
  if (outputError !== undefined && signal === undefined && created + unknown > 0) {
    const { code, message } = outputError;
    const detail = `${created} of ${total} droplets were created, but not all rows were printed`;
    throw new CliError(code, message, { detail, hint: `print the rows with \`${resume}\`` });
  }
  if (outputError !== undefined && signal === undefined) throw outputError;
  if (signal === undefined && left === 0) {
    // If every droplet exists, only the wait for active droplets or the last write to the ledger can have failed.
    if (stopped !== undefined) {
      await output.note(`All ${total} droplets ${skipped === 0 ? 'were created' : 'exist'}.`);
      const again = `resume with \`${resume}\``;
      const hint = stopped.hint === undefined ? again : `${stopped.hint}; then ${again}`;
      const { code, message, detail, status, requestId, cause } = stopped;
      // The droplets exist, so a script continues instead of starting again.
      const exitCode = code === 'storage' ? 5 : stopped.exitCode;
      throw new CliError(code, message, { detail, hint, status, requestId, exitCode, cause });
    }
    if (missingDroplets !== undefined) {
      await output.error(missingDroplets);
      return missingDroplets.exitCode;
    }
    if (results.failures.size > 0) return reportNotActive({ output }, batchEnd);
    await output.note(`${created} created${skipped === 0 ? '' : `, ${skipped} skipped`}.`);
    return 0;
  }
  const hint = `resume with \`${resume}\``;
  const after = countsAfterWait(state, results);
  const summary = `${after.created} created, ${after.failed + missing} failed, ${unknown} unknown${after.skipped === 0 ? '' : `, ${after.skipped} skipped`}`;
  if (signal !== undefined) {
    const { message, exitCode } = interruptedError(signal);
    throw new CliError('cancelled', message, { exitCode, detail: summary, ...(left === 0 && !wait ? {} : { hint }) });
  }
  if (created === 0 && unknown === 0) {
    const error = stopped ?? noneCreatedError(state, profileOptions);
    // The server would refuse the same requests again.
    if (stopped !== undefined && error.hint !== undefined) await output.note(`Resume with: ${resume}`);
    else if (stopped === undefined && !state.isRefused())
      await output.note(`The ledger is kept. To send the same requests again: ${resume}`);
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
 * Every droplet was created or skipped, but afterwards some were deleted or their create action failed. Names of deleted or failed
 * droplets are never sent again.
 */
async function reportNotActive({ output }: Pick<CommandIo, 'output'>, batchEnd: RunEnd): Promise<ExitCode> {
  const { state, results, profileOptions } = batchEnd;
  const { created, skipped, failed } = countsAfterWait(state, results);
  const [first] = [...state.rows()].filter((row) => 'id' in row && results.failures.has(row.id ?? ''));
  const list = ['cloudctl droplets list', first?.name, ...profileOptions].join(' ');
  const causes = [...new Set(results.failures.values())];
  const more = causes.length > 3 ? [`and ${causes.length - 3} more`] : [];
  await output.error(
    new CliError('batch_partial', `${failed} of ${created + skipped + failed} droplets cannot become active`, {
      detail: [...causes.slice(0, 3), ...more].join('; '),
      hint: `check the names with \`${list}\`, and create missing droplets with a new batch`,
    }),
  );
  return 5;
}

/** Without a new session, a larger scope or free disk space, the resumed batch would stop with the same error. */
function afterStop(stopped: CliError | undefined, hint: string): string {
  const isFull = stopped?.code === 'storage' && isDiskFull(stopped.cause);
  const isHintNeeded = stopped?.exitCode === 4 || stopped instanceof LimitError || isFull;
  return isHintNeeded && stopped.hint !== undefined ? `${stopped.hint}; then ${hint}` : hint;
}

/** The result of names that must not be sent again can stay unknown, however often the batch is resumed. */
function unresolvedHint({ state, profileOptions }: RunEnd, hint: string): string {
  const groups = state.uncertainGroups();
  if (groups.length === 0 || groups.some(({ resend }) => resend)) return hint;
  const list = ['cloudctl droplets list', groups[0]?.names[0], ...profileOptions].join(' ');
  return `${hint} to look up the droplets of these names again; if their status stays unknown, list them with \`${list}\``;
}

/** The server refused every request of the batch, and would refuse the same requests again. */
function noneCreatedError(state: BatchState, profileOptions: readonly string[]): CliError {
  const detail = distinctErrors(state, 5).join('; ');
  const lists = ['size', 'image', 'region']
    .filter((option) => detail.toLowerCase().includes(option))
    .map((option) => `\`${['cloudctl api', `'/v2/${option}s?per_page=200'`, ...profileOptions].join(' ')}\``);
  const known = lists.length === 0 ? '' : `; what it has: ${lists.join(', ')}`;
  return new CliError('api_error', 'no droplet was created', {
    detail,
    hint: `correct the options that the server refused, and run the command again${known}`,
  });
}

/** The error messages of the rows, each message once, because the rows themselves may have been written to a file. */
function distinctErrors(state: BatchState, max: number): readonly string[] {
  const errors = new Set<string>();
  for (const row of state.rows()) if ('error' in row) errors.add(row.error);
  return [...errors].slice(0, max);
}

/** Prints what the batch is waiting for when nothing was printed for 10 s. */
export interface Notice {
  /** The same streams as the given `io`; each line that they print restarts the interval. */
  readonly io: BatchIo;
  /** Sets the text that later notices print for what the batch is waiting for. */
  awaiting(describe: () => string): void;
  /** Called when the batch waits `ms` milliseconds for the rate limit. */
  pausing(ms: number): void;
  stop(): void;
}

const firstIntervalMs = 10_000;
/** The longest interval between two lines, because some CI systems end a job that prints nothing for ten minutes. */
const maxIntervalMs = 300_000;

/**
 * The first line is printed after 10 s of silence, and each further line after twice the previous interval, at most 5 min. On a
 * terminal, where the progress stays visible, further lines follow every 5 min.
 */
export function startNotice({ host, output, progress }: BatchIo): Notice {
  const { clock, stderr } = host;
  const stopped = new AbortController();
  let describe = (): string => 'waiting for the server';
  let [startedAt, printedAt, pausedUntil] = [clock.now(), clock.now(), 0];
  let interval = firstIntervalMs;
  let shown = '';
  const printed = (): void => {
    printedAt = clock.now();
    interval = firstIntervalMs;
  };
  const text = (): string => {
    const now = clock.now();
    if (now < pausedUntil) return `still waiting for the rate limit: ${formatDuration(pausedUntil - now)} left`;
    // What is awaited may have changed just now, after a silence.
    const waited = now - startedAt;
    return waited < 1_000 ? `still ${describe()}` : `still ${describe()}, for ${formatDuration(waited)}`;
  };
  const run = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      const left = printedAt + interval - clock.now();
      // A line that is printed during this sleep resets the interval to `firstIntervalMs`.
      if (left > 0) await clock.sleep(Math.min(left, firstIntervalMs), stopped.signal);
      else if (stderr.isTTY && clock.now() < pausedUntil) {
        // On a terminal the progress counts the seconds of this wait down.
        printedAt = clock.now();
      } else {
        await (stderr.isTTY ? output.note(text()) : progress.show(text()));
        printedAt = clock.now();
        interval = stderr.isTTY ? maxIntervalMs : Math.min(2 * interval, maxIntervalMs);
      }
    }
  };
  async function* tapped<T>(pages: RowPages<T>): RowPages<T> {
    for await (const page of pages) {
      printed();
      yield page;
    }
  }
  run().catch(() => {});
  return {
    io: {
      host,
      output: {
        ...output,
        pages: (pages, view) => output.pages(tapped(pages), view),
        show: (...notice) => {
          printed();
          return output.show(...notice);
        },
        note: (...notice) => {
          printed();
          return output.note(...notice);
        },
      },
      progress: {
        ...progress,
        show: (next) => {
          // Showing an unchanged text prints no line, so the interval until the next notice continues.
          if (next !== shown) printed();
          shown = next;
          return progress.show(next);
        },
      },
    },
    awaiting(what) {
      describe = what;
      startedAt = clock.now();
      interval = firstIntervalMs;
    },
    pausing(ms) {
      pausedUntil = clock.now() + ms;
    },
    stop: () => stopped.abort(),
  };
}

import type { ListView } from '../cli/columns.ts';
import type { ParsedArgs } from '../cli/command.ts';
import type { RowPages } from '../cli/write-list.ts';
import type { Context } from '../context.ts';
import { CliError, type ExitCode } from '../errors.ts';
import { interruptedError } from '../platform/defer-signals.ts';
import type { SignalName } from '../platform/host.ts';
import { crossesTenth, progressBarLine, progressText } from './batch-progress.ts';
import type { BatchState, NameResult } from './batch-state.ts';
import { quoteShellArg } from './dry-run.ts';
import { startRowStream } from './row-stream.ts';

export const batchView: ListView<NameResult> = {
  columns: [
    { name: 'Name', value: (row) => row.name },
    { name: 'Status', value: (row) => row.status },
    { name: 'ID', value: (row) => ('id' in row ? row.id : undefined) },
    { name: 'ActionID', value: (row) => (row.status === 'created' ? row.action_id : undefined) },
    { name: 'Error', value: (row) => ('error' in row ? row.error : undefined) },
  ],
};

/** What a run tells while it lasts. */
export interface BatchReporter {
  /** What it gives is to be waited for. */
  settled(names: readonly string[]): Promise<void> | undefined;
  /** The rows that were not told yet. */
  end(notSent: string): Promise<void>;
}

/** Rows as they become known with ndjson, all at the end in the other formats; progress on stderr. */
export async function startBatchReporter(context: Context, roster: BatchState): Promise<BatchReporter> {
  const { output, progress, host } = context;
  const pause = (over: AbortSignal): Promise<void> => host.clock.sleep(flushInterval, over).catch(() => {});
  let unsent = '';
  // A row is made when it is printed: those that wait would outlive the young objects, and fill the heap.
  async function* sheets(some: AsyncIterable<readonly number[]>): RowPages<NameResult> {
    for await (const places of some) yield { rows: () => places.map((at) => roster.rowAt(at, unsent)) };
  }
  const stream =
    output.format === 'ndjson'
      ? startRowStream((some: AsyncIterable<readonly number[]>) => output.pages(sheets(some), batchView), { pause })
      : undefined;
  const total = roster.batch.names.length;
  const told = new Uint8Array(stream === undefined ? 0 : total);
  const started = host.clock.now();
  const before = roster.counts().created;
  let known = before;
  const tell = (places: readonly number[]): Promise<void> | undefined => {
    if (stream === undefined || places.length === 0) return undefined;
    for (const at of places) told[at] = 1;
    return stream.push(places);
  };
  const tellAll = async (isWanted: (at: number) => boolean): Promise<void> => {
    let some: number[] = [];
    for (let at = 0; at < total; at++) {
      if (!isWanted(at)) continue;
      some.push(at);
      if (some.length < 100) continue;
      await tell(some);
      some = [];
    }
    await tell(some);
  };
  const show = (previous: number): Promise<void> | undefined => {
    const isTenth = crossesTenth(previous, known, total);
    if (!host.stderr.isTTY && !isTenth) return undefined;
    const standing = { created: known, total, fresh: known - before, elapsed: host.clock.now() - started };
    return host.stderr.isTTY ? progress.show(progressBarLine(standing)) : output.note(progressText(standing));
  };
  await tellAll(roster.isPresent);
  await show(known);
  return {
    settled(names) {
      const places: number[] = [];
      const previous = known;
      for (const name of names) {
        const at = roster.positionOf(name);
        const isThere = roster.isPresent(at);
        if (isThere) known += 1;
        // One without its error was not sent: why, is known at the end.
        const row = isThere ? undefined : roster.rowAt(at, '');
        if (row === undefined || !('error' in row) || row.error !== '') places.push(at);
      }
      const room = tell(places);
      const shown = show(previous);
      return room === undefined || shown === undefined ? (room ?? shown) : Promise.all([room, shown]).then(() => {});
    },
    async end(notSent) {
      await progress.stop();
      if (stream === undefined) return output.list(roster.rows(notSent), batchView);
      unsent = notSent;
      await tellAll((at) => told[at] === 0);
      await stream.end();
    },
  };
}

/** Milliseconds from one writing of rows to the next: nobody sees it, and it saves most of what writing costs. */
const flushInterval = 100;

/** The command that goes on with what is left, as it was begun: a server may not take larger groups, or more at once. */
export function batchResumeCommand(context: Context, path: string, words: ParsedArgs): string {
  const sizes = ['batch-size', 'concurrency'].flatMap((option) => {
    const text = words.value(option);
    return text === undefined ? [] : [`--${option}`, quoteShellArg(text)];
  });
  const wait = words.has('wait') ? ['--wait'] : [];
  return ['cloudctl droplets create --resume', quoteShellArg(path), ...sizes, ...wait, ...profileOptions(context)].join(
    ' ',
  );
}

/** What another command needs to meet the same profile and servers, quoted for a shell. */
export function profileOptions(context: Context): readonly string[] {
  const { globals } = context;
  const { profileName } = context.settings();
  const typed = ['auth-url', 'base-url'].flatMap((option) => {
    const text = globals.value(option);
    return text === undefined ? [] : [`--${option}`, quoteShellArg(text)];
  });
  const profile = profileName === 'default' ? [] : ['--profile', profileName];
  return [...profile, ...typed];
}

export interface BatchEnd {
  readonly roster: BatchState;
  readonly stopped: CliError | undefined;
  /** Why rows could not be printed. */
  readonly unwritten: CliError | undefined;
  readonly signal: SignalName | undefined;
  readonly resume: string;
  /** The droplets were to be waited for. */
  readonly wait: boolean;
}

/** Exit 0 when every name is there; else the error that stopped it, 5 when some were created or are in doubt, 1 when none. */
export async function reportBatchEnd(context: Context, ending: BatchEnd): Promise<ExitCode> {
  const { output } = context;
  const { roster, stopped, unwritten, signal, resume, wait } = ending;
  const { created, skipped, failed, missing, unknown } = roster.counts();
  const total = roster.batch.names.length;
  const left = failed + missing + unknown;
  if (unwritten !== undefined && signal === undefined && created + unknown > 0) {
    const { code, message } = unwritten;
    const detail = `${created} of ${total} droplets were created, not all rows were printed`;
    throw new CliError(code, message, { detail, hint: `\`${resume}\` prints them`, exitCode: 5 });
  }
  if (unwritten !== undefined && signal === undefined) throw unwritten;
  if (signal === undefined && left === 0) {
    // What failed then is the waiting, or the last line of the ledger.
    if (stopped !== undefined) {
      await output.note(`all ${total} names are there; go on with: ${resume}`);
      throw stopped;
    }
    await output.note(`${created} created${skipped === 0 ? '' : `, ${skipped} skipped`}.`);
    return 0;
  }
  const hint = `\`${resume}\``;
  const summary = `${created} created, ${failed + missing} failed, ${unknown} unknown${skipped === 0 ? '' : `, ${skipped} skipped`}`;
  if (signal !== undefined) {
    const { message, exitCode } = interruptedError(signal);
    throw new CliError('cancelled', message, { exitCode, detail: summary, ...(left === 0 && !wait ? {} : { hint }) });
  }
  if (created === 0 && unknown === 0) {
    const error = stopped ?? noneCreatedError(roster);
    if (stopped === undefined) await output.note(`the ledger is kept: \`${resume}\` sends the same again`);
    else if (error.hint !== undefined) await output.note(`go on with: ${resume}`);
    throw error.hint === undefined ? withHint(error, hint) : error;
  }
  const why = [stopped?.message, stopped?.detail].filter((part) => part !== undefined);
  const reason = why.length === 0 ? distinctErrors(roster, 3) : [`stopped: ${why.join(': ')}`];
  await output.error(
    new CliError('batch_partial', `${created} of ${total} droplets were created`, {
      detail: [summary, ...reason].join('; '),
      hint: endHint(stopped, failed + missing === 0 ? unresolvedHint(context, roster, hint) : hint),
    }),
  );
  return 5;
}

/** Without another session, or another scope, it would stop as it did. */
function endHint(stopped: CliError | undefined, resume: string): string {
  return stopped?.exitCode === 4 && stopped.hint !== undefined ? `${stopped.hint}; then ${resume}` : resume;
}

/** Of names that are never sent again the same may be said however often a script resumes. */
function unresolvedHint(context: Context, roster: BatchState, resume: string): string {
  const doubts = roster.uncertainGroups();
  if (doubts.length === 0 || doubts.some(({ resend }) => resend)) return resume;
  const list = ['cloudctl droplets list', doubts[0]?.names[0], ...profileOptions(context)].join(' ');
  return `${resume} looks again; what stays unknown is yours to decide: see \`${list}\``;
}

function withHint({ code, message, detail, status, requestId, exitCode, cause }: CliError, hint: string): CliError {
  return new CliError(code, message, { detail, hint, status, requestId, exitCode, cause });
}

/** The server answered every request with a refusal, so what was asked for is wrong: asked again, it would be refused again. */
function noneCreatedError(roster: BatchState): CliError {
  return new CliError('api_error', 'no droplet was created', {
    detail: distinctErrors(roster, 5).join('; '),
    hint: 'mend what the server named, and create them with the right words',
  });
}

/** What the rows say, each thing once: they may be in a file, or in a table that nobody looks at. */
function distinctErrors(roster: BatchState, most: number): readonly string[] {
  const reasons = new Set<string>();
  for (const row of roster.rows()) if ('error' in row) reasons.add(row.error);
  return [...reasons].slice(0, most);
}

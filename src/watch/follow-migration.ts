import type { CommandIo } from '../cli/command-io.ts';
import { maxTextLength } from '../cli/command-io.ts';
import { quoteShellArg } from '../cli/shell-quote.ts';
import type { DbSource } from '../db-source/read-source.ts';
import { CliError, type ExitCode } from '../errors.ts';
import { interruptedError } from '../platform/defer-signals.ts';
import type { SignalName } from '../platform/host.ts';
import type { PollResult } from './source-watcher.ts';
import { openWatchScreen } from './view/watch-screen.ts';
import { defaultWatchLimits } from './watch-limits.ts';
import {
  formatSourceName,
  readWatchRecord,
  type SourceIdentity,
  watchRecordPath,
  writeWatchRecord,
} from './watch-record.ts';
import { watchSource } from './watch-source.ts';

export interface WatchMigrationOptions {
  readonly source: DbSource;
  /** Milliseconds. */
  readonly interval: number;
  readonly untilIdle: boolean;
  readonly ignoreDbs: readonly string[];
  readonly slots: readonly string[];
  readonly showQueries: boolean;
  readonly caFile: string | undefined;
}

/** Watches until nothing is left, until nothing can come of it any more, or until the person has seen enough. */
export async function watchMigration(context: CommandIo, watching: WatchMigrationOptions): Promise<ExitCode> {
  const { host, output } = context;
  const { source } = watching;
  const end = new AbortController();
  let signal: SignalName | undefined;
  const stop = host.signals.listen((name) => {
    signal ??= name;
    end.abort();
  });
  // Nobody reads any more: there is nothing left to say.
  host.stdout.closed?.addEventListener('abort', () => end.abort());
  const path = watchRecordPath(host.folders.state, sourceNameOf(source));
  const shown = await openWatchScreen(context, formatSourceName(sourceNameOf(source)), watching.showQueries);
  let ended: PollResult | undefined;
  let isIdle = false;
  const record = readWatchRecord(path);
  let isKnown = record !== undefined;
  try {
    const options = {
      clock: host.clock,
      signal: end.signal,
      ignoreDbs: watching.ignoreDbs,
      slots: watching.slots,
      record,
      onSent: (place: string, text: string) => {
        if (watching.showQueries) void output.show(`sent to ${place}: ${text}`, maxTextLength);
      },
    };
    for await (const result of watchSource(source, watching.interval, options)) {
      // Nothing was ever seen of this source: what keeps us out is more likely mistyped than broken.
      if (!isKnown && !result.reached) throw sourceUnreachableError(result);
      isKnown = true;
      tryToSaveRecord(path, source, result);
      await shown.show(result.sample);
      if (result.ending !== undefined) ended = result;
      isIdle = watching.untilIdle && result.idlePolls >= defaultWatchLimits.idlePolls;
      if (isIdle) break;
    }
  } finally {
    stop();
    await shown.close();
  }
  if (isIdle) {
    await output.note(idleText(source));
    return 0;
  }
  if (ended?.ending !== undefined) throw new CliError('not_found', ended.ending.message, { hint: ended.ending.hint });
  if (signal === undefined) return 0;
  throw new CliError('cancelled', 'the watch was ended; the migration goes on', {
    hint: `come back with \`${watchAgainCommand(watching)}\``,
    exitCode: interruptedError(signal).exitCode,
  });
}

function sourceUnreachableError({ outage = 'it does not answer' }: PollResult): CliError {
  return new CliError('source_unreachable', `could not enter the source: ${outage}`, {
    hint: 'the same options with `cloudctl db preflight` tell what to do',
  });
}

/** The source as records are named by. */
export function sourceNameOf({ engine, source }: DbSource): SourceIdentity {
  const { host, port } = source;
  return { engine, host, port, ...('dbname' in source ? { dbname: source.dbname } : {}) };
}

/** A state folder that cannot be written to ends no watch: the next one then begins without what this one saw. */
function tryToSaveRecord(path: string, source: DbSource, result: PollResult): void {
  try {
    saveRecord(path, source, result);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

/** The next watch knows what this one saw: what is gone then was dropped meanwhile. */
function saveRecord(path: string, source: DbSource, { activeSlots, ending, sample }: PollResult): void {
  const record = readWatchRecord(path) ?? { engine: source.engine, source: formatSourceName(sourceNameOf(source)) };
  if (ending !== undefined) {
    const { slots: _slots, firstSeen: _firstSeen, ...rest } = record;
    writeWatchRecord(path, rest);
    return;
  }
  const known = record.slots ?? [];
  const fresh = activeSlots.filter(
    (one) => !known.some((other) => other.name === one.name && other.database === one.database),
  );
  if (fresh.length === 0) return;
  const kept = known.filter(({ database }) => !fresh.some((one) => one.database === database));
  writeWatchRecord(path, {
    ...record,
    firstSeen: record.firstSeen ?? Date.parse(sample.at),
    slots: [...kept, ...fresh],
  });
}

function idleText({ engine }: DbSource): string {
  return engine === 'redis'
    ? 'Nothing is left to replicate. Stop the application, and move it to the target; then stop the migration in the control panel.'
    : 'Nothing is left to replicate. At the cut-over stop the application, set the sequences of the target (`cloudctl db sequences`), move the application, and stop the migration in the control panel.';
}

/** The same words without the password. */
function watchAgainCommand({
  source: { engine, source },
  untilIdle,
  ignoreDbs,
  slots,
  caFile,
}: WatchMigrationOptions): string {
  const user = source.username === undefined ? '' : `${encodeURIComponent(source.username)}@`;
  const host = source.host.includes(':') ? `[${source.host}]` : source.host;
  const scheme = engine === 'redis' ? (source.ssl === 'disable' ? 'redis' : 'rediss') : 'postgres';
  const database = 'dbname' in source ? `/${encodeURIComponent(source.dbname)}` : '';
  const words = [
    `${scheme}://${user}${host}:${source.port}${database}`,
    ...(engine === 'postgresql' && source.ssl === 'disable' ? ['--disable-ssl'] : []),
    ...(caFile === undefined ? [] : ['--ca-file', caFile]),
    ...(ignoreDbs.length === 0 ? [] : ['--ignore-dbs', ignoreDbs.join(',')]),
    ...slots.flatMap((slot) => ['--slot', slot]),
    ...(untilIdle ? ['--until-idle'] : []),
  ];
  return `cloudctl db watch --source ${words.map(quoteShellArg).join(' ')}`;
}

import { formatDuration } from '../base/text.ts';
import type { HostSystem } from '../platform/host.ts';
import type { ParsedArgs } from './command.ts';
import type { OutputWriter } from './output.ts';
import type { ProgressReporter } from './progress.ts';
import type { Prompts } from './prompts.ts';

/**
 * The input and output streams of a command. The context of a command contains these streams; modules below the commands
 * receive only the streams, so that they depend on neither a profile nor a session.
 */
export interface CommandIo {
  readonly host: HostSystem;
  /** The global options. */
  readonly globals: ParsedArgs;
  readonly output: OutputWriter;
  readonly prompts: Prompts;
  readonly progress: ProgressReporter;
}

type Streams = Pick<CommandIo, 'host' | 'output' | 'progress'>;

const nothing = async (): Promise<void> => {};

/**
 * With `-o json`, stderr is empty or has one error object, so that a script can parse it; notices are omitted, and progress is
 * shown only on a terminal.
 */
export function quietForJson({ host, output, progress }: Streams): Streams {
  if (output.format !== 'json') return { host, output, progress };
  return {
    host,
    output: { ...output, show: nothing, note: nothing, warn: nothing },
    progress: host.stderr.isTTY ? progress : { ...progress, show: nothing, count: () => () => {} },
  };
}

/** Shows on stderr that a command waits `ms` milliseconds for the rate limit of the server. */
export function showPause({ progress }: Pick<CommandIo, 'progress'>): (ms: number) => Promise<void> {
  return (ms) => progress.show(`waiting ${formatDuration(ms)} for the rate limit`);
}

/** Waits for the rate limit, and shows it. */
export function pauseOf(io: Pick<CommandIo, 'progress' | 'host'>, signal?: AbortSignal): (ms: number) => Promise<void> {
  return async (ms) => {
    await showPause(io)(ms);
    await io.host.clock.sleep(ms, signal);
  };
}

import type { Host } from '../platform/host.ts';
import type { ParsedArgs } from './command.ts';
import type { Output } from './output.ts';
import type { ProgressReporter } from './progress.ts';
import type { Prompts } from './prompts.ts';

/**
 * What a command reads from and writes to. The context of a command has all of it; code below the commands takes this
 * part alone, so that it needs neither a profile nor a session.
 */
export interface CommandIo {
  readonly host: Host;
  /** The global options. */
  readonly globals: ParsedArgs;
  readonly output: Output;
  readonly prompts: Prompts;
  readonly progress: ProgressReporter;
}

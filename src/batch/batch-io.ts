import type { CommandIo } from '../cli/command-io.ts';

/** The input and output of a batch: host, results and notices, progress. */
export type BatchIo = Pick<CommandIo, 'host' | 'output' | 'progress'>;

const nothing = async (): Promise<void> => {};

/**
 * With `-o json`, stderr is empty or has one error object, so that a script can parse it; notices are omitted, and progress is
 * shown only on a terminal.
 */
export function omitBatchNoticesForJson({ host, output, progress }: BatchIo): BatchIo {
  if (output.format !== 'json') return { host, output, progress };
  return {
    host,
    output: { ...output, show: nothing, note: nothing, warn: nothing },
    progress: host.stderr.isTTY ? progress : { ...progress, show: nothing, count: () => () => {} },
  };
}

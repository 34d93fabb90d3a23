import type { CommandIo } from './command-io.ts';

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

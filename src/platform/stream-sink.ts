import type { WriteStream } from 'node:tty';
import { CliError } from '../errors.ts';
import type { Sink } from './host.ts';

export interface StreamSinkOptions {
  /** The words for it in an error: "standard output". */
  readonly name: string;
  /** Called once, when the reader has closed the pipe. Everything written from then on is dropped. */
  readonly onClosed: () => void;
  /** What was not written is lost data on standard output, and nobody's loss on standard error. */
  readonly lossless: boolean;
}

type Output = Pick<WriteStream, 'write' | 'on' | 'off' | 'isTTY' | 'columns' | 'rows'>;

/** A sink over a stream of the process, which is only touched when something is asked of it. */
export function streamSink(stream: () => Output, options: StreamSinkOptions): Sink {
  let output: Output | undefined;
  const closed = new AbortController();
  const opened = (): Output => {
    if (output === undefined) {
      output = stream();
      // The failure of a write is told to its callback as well; unheard, the event would end the program with a stack.
      output.on('error', () => {});
    }
    return output;
  };
  const onFailure = (error: Error): CliError | undefined => {
    if (isClosedPipe(error)) {
      if (!closed.signal.aborted) {
        closed.abort();
        options.onClosed();
      }
      return undefined;
    }
    if (!options.lossless) return undefined;
    return new CliError('internal', `could not write to ${options.name}: ${error.message}`, {
      hint: 'make room where it leads to, and run the command again',
    });
  };
  return {
    closed: closed.signal,
    write: (data) =>
      new Promise((resolve, reject) => {
        if (closed.signal.aborted) return resolve();
        // The callback comes when the system has taken it, so a slow reader slows the writer down.
        opened().write(data, (error) => {
          const failure = error == null ? undefined : onFailure(error);
          if (failure === undefined) resolve();
          else reject(failure);
        });
      }),
    get isTTY() {
      return opened().isTTY === true;
    },
    get columns() {
      // Some terminals, as those of `script` without one of its own, say that they have none.
      return opened().isTTY === true ? opened().columns || undefined : undefined;
    },
    get rows() {
      return opened().isTTY === true ? opened().rows || undefined : undefined;
    },
    onResize(listener) {
      opened().on('resize', listener);
      return () => void opened().off('resize', listener);
    },
  };
}

function isClosedPipe(error: Error): boolean {
  const code = 'code' in error ? error.code : undefined;
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED' || code === 'EOF' || code === 'ECONNRESET';
}

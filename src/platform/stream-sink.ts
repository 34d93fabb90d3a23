import type { WriteStream } from 'node:tty';
import { CliError } from '../base/errors.ts';
import { isDiskFull } from '../base/storage-error.ts';
import type { OutputSink } from './host.ts';
import { maybeTerminal } from './terminal.ts';

interface StreamSinkOptions {
  /** The file descriptor of the output stream. */
  readonly descriptor: number;
  /** The name of the output stream in errors, such as "standard output". */
  readonly name: string;
  /** Called once when the reader has closed the pipe. Writes to a closed pipe are discarded. */
  readonly onClosed: () => void;
  /** Whether a failed write is an error: true for standard output, false for standard error. */
  readonly lossless: boolean;
}

type Output = Pick<WriteStream, 'write' | 'on' | 'off' | 'isTTY' | 'columns' | 'rows'>;

/** Creates an output sink for a stream of the process; the stream is opened on first use. */
export function streamSink(stream: () => Output, options: StreamSinkOptions): OutputSink {
  let output: Output | undefined;
  const closed = new AbortController();
  const opened = (): Output => {
    if (output === undefined) {
      output = stream();
      // A failed write is reported to its callback and as an `error` event, which would end the program without a listener.
      output.on('error', () => {});
    }
    return output;
  };
  let candidate: boolean | undefined;
  // The descriptor alone shows that the output is a pipe or a file, so isTerminal does not open the stream in these cases.
  const isTerminal = (): boolean => {
    candidate ??= output !== undefined || maybeTerminal(options.descriptor);
    return candidate && opened().isTTY === true;
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
    return new CliError('output', `could not write to ${options.name}: ${error.message}`, {
      hint: isDiskFull(error)
        ? 'free space where the output is written, then run the command again'
        : 'write the output to another place, and run the command again',
      cause: error,
    });
  };
  return {
    closed: closed.signal,
    write: (data) =>
      new Promise((resolve, reject) => {
        if (closed.signal.aborted) return resolve();
        // The callback of `write` is called when the system has accepted the data, so a slow reader delays the writer.
        opened().write(data, (error) => {
          const failure = error == null ? undefined : onFailure(error);
          if (failure === undefined) resolve();
          else reject(failure);
        });
      }),
    get isTTY() {
      return isTerminal();
    },
    get columns() {
      // Some terminals report a width of 0 columns.
      return isTerminal() ? opened().columns || undefined : undefined;
    },
    get rows() {
      return isTerminal() ? opened().rows || undefined : undefined;
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

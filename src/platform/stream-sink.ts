import type { WriteStream } from 'node:tty';
import { CliError } from '../errors.ts';
import type { Sink } from './host.ts';
import { isTerminalCandidate } from './terminal-candidate.ts';

export interface StreamSinkOptions {
  /** The file descriptor of the stream. */
  readonly descriptor: number;
  /** The name of the stream in an error: "standard output". */
  readonly name: string;
  /** Called once when the reader has closed the pipe. Later writes are discarded. */
  readonly onClosed: () => void;
  /** Whether a failed write is an error: on standard output, but not on standard error. */
  readonly lossless: boolean;
}

type Output = Pick<WriteStream, 'write' | 'on' | 'off' | 'isTTY' | 'columns' | 'rows'>;

/** A sink for a stream of the process, which is opened on first use. */
export function streamSink(stream: () => Output, options: StreamSinkOptions): Sink {
  let output: Output | undefined;
  const closed = new AbortController();
  const opened = (): Output => {
    if (output === undefined) {
      output = stream();
      // A failed write is reported to its callback as well. Without a listener the event would end the program.
      output.on('error', () => {});
    }
    return output;
  };
  let candidate: boolean | undefined;
  // Does not open the stream to find that it is a pipe or a file.
  const isTerminal = (): boolean => {
    candidate ??= output !== undefined || isTerminalCandidate(options.descriptor);
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
    return new CliError('internal', `could not write to ${options.name}: ${error.message}`, {
      hint: 'free space where the output is written, then run the command again',
    });
  };
  return {
    closed: closed.signal,
    write: (data) =>
      new Promise((resolve, reject) => {
        if (closed.signal.aborted) return resolve();
        // The callback is called when the system has accepted the data, so a slow reader slows down the writer.
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
      // Some terminals report 0 columns.
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

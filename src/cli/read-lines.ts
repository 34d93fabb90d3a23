import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

export interface LineStreams {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable & { readonly isTTY?: boolean };
  /** Ctrl-C in raw mode is a key, not a signal. */
  readonly onInterrupt: () => void;
}

/**
 * Lines as a person types or pastes them, until the signal. On a terminal in raw mode: in the usual mode the kernel cuts a
 * line at 1,024 bytes on some systems, and a redirect URL is longer.
 */
export async function* readLines(streams: LineStreams, signal: AbortSignal): AsyncGenerator<string> {
  if (signal.aborted) return;
  const terminal = streams.input.isTTY === true && streams.output.isTTY === true;
  const lines = createInterface({
    input: streams.input,
    terminal,
    historySize: 0,
    ...(terminal ? { output: streams.output } : {}),
  });
  const close = (): void => lines.close();
  lines.on('SIGINT', streams.onInterrupt);
  signal.addEventListener('abort', close, { once: true });
  try {
    yield* lines;
  } finally {
    signal.removeEventListener('abort', close);
    lines.close();
    // A stream that is still read keeps the process alive.
    streams.input.pause();
  }
}

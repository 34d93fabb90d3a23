import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

export interface LineInputStreams {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable & { readonly isTTY?: boolean };
  /** Called for Ctrl-C, which sends no signal when the terminal is in raw mode. */
  readonly onInterrupt: () => void;
}

/**
 * Yields the lines that the user types or pastes, until the signal is aborted. Uses the raw mode of a terminal, because the
 * normal mode cuts lines at 1,024 bytes on some systems, and a redirect URL is longer.
 */
export async function* readTerminalLines(streams: LineInputStreams, signal: AbortSignal): AsyncGenerator<string> {
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
    // Pauses the input, because a stream that is still read keeps the process running.
    streams.input.pause();
  }
}

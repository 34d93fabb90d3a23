import { sanitizeLine } from '../base/sanitize.ts';
import type { Clock, OutputSink } from '../platform/host.ts';
import type { TextMeasurer } from './text-measurer.ts';
import { createTextMeasurer } from './text-measurer.ts';

export interface ProgressReporterOptions {
  readonly stderr: OutputSink;
  readonly clock: Clock;
  readonly quiet: boolean;
  /** False for a terminal that can only show ASCII characters. */
  readonly unicode?: boolean;
  /** Whether the terminal cannot erase a line (`TERM=dumb`); progress is then printed as separate lines. */
  readonly dumb?: boolean;
}

/** Shows the current task of the program on stderr, one task at a time. */
export interface ProgressReporter {
  /**
   * Replaces the progress text. Without a terminal, the progress text is printed as a line, and further lines follow at most
   * every 10 s.
   */
  show(text: string): Promise<void>;
  /** Shows `N of TOTAL things` after the task has run for 0.3 s (10 s without a terminal). */
  count(things: string): (done: number, total: number | undefined) => void;
  /** Erases the progress text; prints `last` in its place if given. */
  stop(last?: string): Promise<void>;
  /** Wraps an output stream of the same terminal: the progress text is erased before each write. */
  guard(sink: OutputSink): OutputSink;
}

export function createProgressReporter({
  stderr,
  clock,
  quiet,
  unicode = true,
  dumb = false,
}: ProgressReporterOptions): ProgressReporter {
  if (quiet) return silentReporter;
  return stderr.isTTY && !dumb
    ? createSpinner(stderr, clock, unicode ? brailleFrames : asciiFrames)
    : createLineReporter(stderr, clock);
}

const brailleFrames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const asciiFrames = ['|', '/', '-', '\\'];
const frameMs = 100;
const showDelayMs = 300;
const lineIntervalMs = 10_000;
const eraseLine = '\r\u001b[2K';

const silentReporter: ProgressReporter = {
  show: async () => {},
  count: () => () => {},
  stop: async () => {},
  guard: (sink) => sink,
};

function countText(things: string, done: number, total: number | undefined): string {
  return total === undefined ? `${done} ${things}` : `${done} of ${total} ${things}`;
}

function createLineReporter(stderr: OutputSink, clock: Clock): ProgressReporter {
  let saidAt: number | undefined;
  let said = '';
  const say = async (text: string) => {
    said = sanitizeLine(text);
    saidAt = clock.now();
    await stderr.write(`${said}\n`);
  };
  const show = async (text: string) => {
    if (saidAt === undefined || (clock.now() - saidAt >= lineIntervalMs && sanitizeLine(text) !== said))
      await say(text);
  };
  return {
    show,
    count(things) {
      const begun = clock.now();
      return (done, total) => {
        if (clock.now() - begun >= lineIntervalMs) void show(countText(things, done, total));
      };
    },
    async stop(last) {
      if (last !== undefined && sanitizeLine(last) !== said) await say(last);
      saidAt = undefined;
    },
    guard: (sink) => sink,
  };
}

function createSpinner(stderr: OutputSink, clock: Clock, frames: readonly string[]): ProgressReporter {
  let text = '';
  let running: { readonly end: AbortController; readonly turning: Promise<void> } | undefined;
  let drawn = false;

  async function turn(rule: TextMeasurer, signal: AbortSignal): Promise<void> {
    for (let at = 0; !signal.aborted; at += 1) {
      drawn = true;
      const line = `${frames[at % frames.length]} ${text}`;
      // The last character cell of the line stays empty, because some terminals wrap when it is filled.
      await stderr.write(`${eraseLine}${rule.truncate(line, (stderr.columns ?? 80) - 1)}`);
      await clock.sleep(frameMs, signal).catch(() => {});
    }
  }

  async function erase(): Promise<void> {
    if (!drawn) return;
    drawn = false;
    await stderr.write(eraseLine);
  }

  async function show(next: string): Promise<void> {
    text = sanitizeLine(next);
    if (running !== undefined) return;
    const end = new AbortController();
    running = { end, turning: createTextMeasurer().then((rule) => turn(rule, end.signal)) };
  }

  return {
    show,
    count(things) {
      const begun = clock.now();
      return (done, total) => {
        // No progress is shown for a short task, because the text would only flicker.
        if (running !== undefined || clock.now() - begun >= showDelayMs) void show(countText(things, done, total));
      };
    },
    async stop(last) {
      const ended = running;
      running = undefined;
      ended?.end.abort();
      await ended?.turning;
      await erase();
      if (last !== undefined) await stderr.write(`${sanitizeLine(last)}\n`);
    },
    guard: (sink) => ({
      write: async (data) => {
        if (sink.isTTY) await erase();
        await sink.write(data);
      },
      get isTTY() {
        return sink.isTTY;
      },
      get columns() {
        return sink.columns;
      },
      get rows() {
        return sink.rows;
      },
    }),
  };
}

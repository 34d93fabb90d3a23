import type { Clock, Sink } from '../platform/host.ts';
import { sanitizeLine } from './sanitize.ts';
import type { TextMeasurer } from './text-width.ts';
import { createTextMeasurer } from './text-width.ts';

export interface ProgressOptions {
  readonly stderr: Sink;
  readonly clock: Clock;
  readonly quiet: boolean;
  /** False for a terminal that knows ASCII only. */
  readonly unicode?: boolean;
  /** It cannot take a line back: progress is told as where there is no terminal. */
  readonly dumb?: boolean;
}

/** Tells on stderr what is going on; one thing at a time. */
export interface ProgressReporter {
  /** Shows the text, in place of the one before. Off a terminal a line is printed, and later ones at most every ten seconds. */
  show(text: string): Promise<void>;
  /** Shows how many of the things there are, if that is known, have come, once that takes 0.3 s; off a terminal ten. */
  count(things: string): (done: number, total: number | undefined) => void;
  /** Takes the line away; what is said last, if anything, stays. */
  stop(last?: string): Promise<void>;
  /** The sink with the progress line out of the way of each write; for all that shares the terminal with it. */
  guard(sink: Sink): Sink;
}

export function createProgressReporter({
  stderr,
  clock,
  quiet,
  unicode = true,
  dumb = false,
}: ProgressOptions): ProgressReporter {
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

function createLineReporter(stderr: Sink, clock: Clock): ProgressReporter {
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

function createSpinner(stderr: Sink, clock: Clock, frames: readonly string[]): ProgressReporter {
  let text = '';
  let running: { readonly end: AbortController; readonly turning: Promise<void> } | undefined;
  let drawn = false;

  async function turn(rule: TextMeasurer, signal: AbortSignal): Promise<void> {
    for (let at = 0; !signal.aborted; at += 1) {
      drawn = true;
      const line = `${frames[at % frames.length]} ${text}`;
      // The last cell stays free: some terminals wrap as soon as it is filled.
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
        // What is over in a moment would only flash.
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
    }),
  };
}

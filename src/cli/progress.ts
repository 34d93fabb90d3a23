import { sanitizeLine } from '../base/sanitize.ts';
import type { Clock, OutputSink } from '../platform/host.ts';
import { createMeasurer, type TextMeasurer } from './text.ts';

interface ProgressReporterOptions {
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

export function createProgress({
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
    running = { end, turning: createMeasurer().then((rule) => turn(rule, end.signal)) };
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

const horizontalEighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const verticalEighths = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** Draws a progress bar of `cells` characters, filled to `part` (0 to 1) in steps of one eighth of a character. */
export function progressBar(part: number, cells: number): { readonly full: string; readonly empty: string } {
  const steps = Math.round(Math.min(1, Math.max(0, part)) * cells * 8);
  const full = '█'.repeat(Math.floor(steps / 8)) + horizontalEighths[steps % 8]!;
  return { full, empty: '░'.repeat(cells - full.length) };
}

/**
 * Draws the last `cells` values as a line of small vertical bars (a sparkline). The highest value fills a character cell; zero
 * is drawn as the lowest bar.
 */
export function sparkline(values: readonly number[], cells: number): string {
  const shown = cells <= 0 ? [] : values.slice(-cells);
  const most = Math.max(...shown, 0);
  return shown.map((value) => verticalEighths[most === 0 ? 0 : Math.round((Math.max(0, value) / most) * 7)]!).join('');
}

/** A full-screen view of the terminal that is redrawn repeatedly. */
interface TerminalScreen {
  /** Replaces the content of the whole screen. The number and width of the lines must fit the terminal. */
  draw(lines: readonly string[]): Promise<void>;
  /** Restores the normal screen of the terminal and prints lines that remain visible. */
  end(lines: readonly string[]): Promise<void>;
}

/**
 * Draws on the alternate screen of the terminal, where old lines are not rewrapped after a change of size. Each redraw is one
 * write inside a synchronized update, so that the screen does not flicker.
 */
export function createScreen(sink: Pick<OutputSink, 'write'>): TerminalScreen {
  let isOpen = false;
  return {
    async draw(lines) {
      const opening = isOpen ? '' : enterAlternateScreen;
      isOpen = true;
      await sink.write(
        `${opening}${beginSynchronizedUpdate}${cursorHome}${lines.map((line) => `${line}${eraseToLineEnd}`).join('\r\n')}${eraseToScreenEnd}${endSynchronizedUpdate}`,
      );
    },
    async end(lines) {
      const closing = isOpen ? leaveAlternateScreen : '';
      isOpen = false;
      await sink.write(`${closing}${lines.map((line) => `${line}\n`).join('')}`);
    },
  };
}

/** Terminal modes DECSET 1049 and 25 select the alternate screen and hide the cursor. */
const enterAlternateScreen = '\u001b[?1049h\u001b[?25l';
const leaveAlternateScreen = '\u001b[?25h\u001b[?1049l';
/** DEC private mode 2026 is synchronized output; terminals that do not support it ignore it. */
const beginSynchronizedUpdate = '\u001b[?2026h';
const endSynchronizedUpdate = '\u001b[?2026l';
const cursorHome = '\u001b[H';
const eraseToLineEnd = '\u001b[K';
const eraseToScreenEnd = '\u001b[J';

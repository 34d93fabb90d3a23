import type { OutputSink } from '../platform/host.ts';

/** A full-screen view of the terminal that is redrawn repeatedly. */
export interface TerminalScreen {
  /** Replaces the content of the whole screen. The number and width of the lines must fit the terminal. */
  draw(lines: readonly string[]): Promise<void>;
  /** Restores the normal screen of the terminal and prints lines that remain visible. */
  end(lines: readonly string[]): Promise<void>;
}

/**
 * Draws on the alternate screen of the terminal, where old lines are not rewrapped after a change of size. Each redraw is one
 * write inside a synchronized update, so that the screen does not flicker.
 */
export function createTerminalScreen(sink: Pick<OutputSink, 'write'>): TerminalScreen {
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

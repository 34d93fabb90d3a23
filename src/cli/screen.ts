import type { OutputSink } from '../platform/host.ts';

/** A full-screen view of the terminal that is redrawn repeatedly. */
export interface TerminalScreen {
  /** Replaces the whole screen. The lines must fit the terminal. */
  draw(lines: readonly string[]): Promise<void>;
  /** Restores the terminal and prints lines that stay on it. */
  end(lines: readonly string[]): Promise<void>;
}

/**
 * Draws on the alternate screen, where a resized terminal does not wrap old lines. Each redraw is one write inside a
 * synchronized update, so that it does not flicker.
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

/** DECSET 1049 and 25: the alternate screen, with the cursor hidden. */
const enterAlternateScreen = '\u001b[?1049h\u001b[?25l';
const leaveAlternateScreen = '\u001b[?25h\u001b[?1049l';
/** DEC mode 2026, synchronized output. Terminals that do not support it ignore it. */
const beginSynchronizedUpdate = '\u001b[?2026h';
const endSynchronizedUpdate = '\u001b[?2026l';
const cursorHome = '\u001b[H';
const eraseToLineEnd = '\u001b[K';
const eraseToScreenEnd = '\u001b[J';

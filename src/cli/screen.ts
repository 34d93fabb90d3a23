import type { Sink } from '../platform/host.ts';

/** A picture on the whole terminal that is drawn again and again. */
export interface TerminalScreen {
  /** Lines as wide and as many as fit; what was drawn before is gone. */
  draw(lines: readonly string[]): Promise<void>;
  /** Gives the terminal back as it was; what is given stays on it. */
  end(lines: readonly string[]): Promise<void>;
}

/**
 * On the alternate screen, where a new width cannot tear what was drawn before. Each picture is one write that erases line by
 * line behind itself, inside a synchronized update, so that nothing flickers.
 */
export function createTerminalScreen(sink: Pick<Sink, 'write'>): TerminalScreen {
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

/** DECSET 1049 and 25: the alternate screen, without a cursor. */
const enterAlternateScreen = '\u001b[?1049h\u001b[?25l';
const leaveAlternateScreen = '\u001b[?25h\u001b[?1049l';
/** Mode 2026: terminals that do not know it ignore it. */
const beginSynchronizedUpdate = '\u001b[?2026h';
const endSynchronizedUpdate = '\u001b[?2026l';
const cursorHome = '\u001b[H';
const eraseToLineEnd = '\u001b[K';
const eraseToScreenEnd = '\u001b[J';

import type { Sink } from '../platform/host.ts';

/** A picture on the whole terminal that is drawn again and again. */
export interface Live {
  /** Lines as wide and as many as fit; what was drawn before is gone. */
  draw(lines: readonly string[]): Promise<void>;
  /** Gives the terminal back as it was; what is given stays on it. */
  end(lines: readonly string[]): Promise<void>;
}

/**
 * On the alternate screen, where a new width cannot tear what was drawn before. Each picture is one write that erases line by
 * line behind itself, inside a synchronized update, so that nothing flickers.
 */
export function createLive(sink: Pick<Sink, 'write'>): Live {
  let isOpen = false;
  return {
    async draw(lines) {
      const opening = isOpen ? '' : enter;
      isOpen = true;
      await sink.write(
        `${opening}${begin}${home}${lines.map((line) => `${line}${eraseRight}`).join('\r\n')}${eraseBelow}${finish}`,
      );
    },
    async end(lines) {
      const closing = isOpen ? leave : '';
      isOpen = false;
      await sink.write(`${closing}${lines.map((line) => `${line}\n`).join('')}`);
    },
  };
}

/** DECSET 1049 and 25: the alternate screen, without a cursor. */
const enter = '\u001b[?1049h\u001b[?25l';
const leave = '\u001b[?25h\u001b[?1049l';
/** Mode 2026: terminals that do not know it ignore it. */
const begin = '\u001b[?2026h';
const finish = '\u001b[?2026l';
const home = '\u001b[H';
const eraseRight = '\u001b[K';
const eraseBelow = '\u001b[J';

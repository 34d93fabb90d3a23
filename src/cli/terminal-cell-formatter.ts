import { formatDuration } from '../base/text.ts';
import { createTerminalStyles, type TerminalStyles } from './color.ts';
import type { OutputCellValue, OutputColumnTraits } from './columns.ts';
import { hyperlink } from './hyperlink.ts';

/** How tables on a terminal show cells. */
export interface TerminalCellFormatter {
  /** The text of a cell; a time is shown relative to now. */
  text(cell: OutputCellValue, traits: OutputColumnTraits | undefined): string;
  /** Adds to the text the colour of its status, and the hyperlink of its cell. */
  style(text: string, traits: OutputColumnTraits | undefined, cell: OutputCellValue): string;
  styleHeader(text: string): string;
}

export interface TerminalCellFormatterOptions {
  readonly isTerminal: boolean;
  readonly color: boolean;
  /** Whether the terminal shows hyperlinks. */
  readonly hyperlinks?: boolean;
  /** Returns the current time in milliseconds since the epoch. */
  readonly now: () => number;
}

export async function createTerminalCellFormatter({
  isTerminal,
  color,
  hyperlinks = false,
  now: clock,
}: TerminalCellFormatterOptions): Promise<TerminalCellFormatter> {
  const styles = await createTerminalStyles(color);
  const now = clock();
  return {
    text(cell, traits) {
      if (cell === null || cell === undefined) return '';
      return isTerminal && traits?.kind === 'time' ? relativeTime(String(cell), now) : String(cell);
    },
    style(text, traits, cell) {
      const shown = traits?.kind === 'state' ? styles[colorOfState(text)](text) : text;
      const url = hyperlinks ? traits?.link?.(cell) : undefined;
      return url === undefined ? shown : hyperlink(shown, url);
    },
    styleHeader: (text) => styles.dim(text),
  };
}

const greenStates: ReadonlySet<string> = new Set(['active', 'completed', 'done', 'created', 'ok', 'finished', 'valid']);
const redStates: ReadonlySet<string> = new Set(['errored', 'error', 'failed', 'damaged', 'unknown', 'expired']);
const dimStates: ReadonlySet<string> = new Set(['off', 'archive', 'deleted', 'skipped', 'logged_out', 'canceled']);

/**
 * A status in neither of the sets of final statuses belongs to an unfinished operation: `new`, `in-progress`, `running`,
 * `unfinished`.
 */
function colorOfState(state: string): keyof Pick<TerminalStyles, 'green' | 'red' | 'dim' | 'yellow'> {
  if (greenStates.has(state)) return 'green';
  if (redStates.has(state)) return 'red';
  return dimStates.has(state) ? 'dim' : 'yellow';
}

/**
 * Formats a time as `3 min 20 s ago` or `in 29 d`; a time more than 60 days away as its date. Text that is not a time is returned
 * unchanged.
 */
export function relativeTime(text: string, now: number): string {
  const time = /^\d{4}-\d{2}-\d{2}T/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) return text;
  const seconds = Math.floor(Math.abs(time - now) / 1000);
  if (seconds > 60 * 86_400) return text.slice(0, 10);
  const amount = formatDuration(seconds * 1000);
  return time > now ? `in ${amount}` : `${amount} ago`;
}

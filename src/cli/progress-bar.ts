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

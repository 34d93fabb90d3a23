const horizontalEighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const verticalEighths = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** A bar of so many cells, filled by its part of one, in steps of an eighth of a cell. */
export function progressBar(part: number, cells: number): { readonly full: string; readonly empty: string } {
  const steps = Math.round(Math.min(1, Math.max(0, part)) * cells * 8);
  const full = '█'.repeat(Math.floor(steps / 8)) + horizontalEighths[steps % 8]!;
  return { full, empty: '░'.repeat(cells - full.length) };
}

/** The last so many values as a line of little columns; the highest of them fills a cell, and zero is the lowest line. */
export function sparkline(values: readonly number[], cells: number): string {
  const shown = cells <= 0 ? [] : values.slice(-cells);
  const most = Math.max(...shown, 0);
  return shown.map((value) => verticalEighths[most === 0 ? 0 : Math.round((Math.max(0, value) / most) * 7)]!).join('');
}

export interface TextMeasurer {
  /** Terminal cells the text takes. */
  measure(text: string): number;
  /** At most so many cells; what was cut off shows as an ellipsis. */
  truncate(text: string, cells: number): string;
  /** Filled with blanks up to so many cells. */
  pad(text: string, cells: number): string;
}

/** Measures text as a terminal shows it: wide characters take two cells, combining ones none. */
export async function createTextMeasurer(): Promise<TextMeasurer> {
  const { default: stringWidth } = await import('string-width');
  return measurerWith((text) => stringWidth(text));
}

/** The same for what is made of these texts alone. ASCII is measured without what takes as long to load as Node to start. */
export async function createTextMeasurerFor(texts: Iterable<string>): Promise<TextMeasurer> {
  for (const text of texts) if (!/^[ -~]*$/.test(text)) return createTextMeasurer();
  return measurerWith(({ length }) => length);
}

function measurerWith(measure: TextMeasurer['measure']): TextMeasurer {
  return {
    measure,
    pad: (text, cells) => text + ' '.repeat(Math.max(0, cells - measure(text))),
    truncate(text, cells) {
      if (measure(text) <= cells) return text;
      let kept = '';
      let taken = 0;
      for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)) {
        taken += measure(segment);
        if (taken > cells - 1) break;
        kept += segment;
      }
      return cells < 1 ? '' : `${kept}…`;
    },
  };
}

export interface Ruler {
  /** Terminal cells the text takes. */
  measure(text: string): number;
  /** At most so many cells; what was cut off shows as an ellipsis. */
  shorten(text: string, cells: number): string;
  /** Filled with blanks up to so many cells. */
  pad(text: string, cells: number): string;
}

/** Measures text as a terminal shows it: wide characters take two cells, combining ones none. */
export async function ruler(): Promise<Ruler> {
  const { default: stringWidth } = await import('string-width');
  return rulerBy((text) => stringWidth(text));
}

/** The same for what is made of these texts alone. ASCII is measured without what takes as long to load as Node to start. */
export async function rulerFor(texts: Iterable<string>): Promise<Ruler> {
  for (const text of texts) if (!/^[ -~]*$/.test(text)) return ruler();
  return rulerBy(({ length }) => length);
}

function rulerBy(measure: Ruler['measure']): Ruler {
  return {
    measure,
    pad: (text, cells) => text + ' '.repeat(Math.max(0, cells - measure(text))),
    shorten(text, cells) {
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

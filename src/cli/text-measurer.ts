export interface TextMeasurer {
  /** The width of a text in terminal cells. */
  measure(text: string): number;
  /** Cuts the text to a width of `cells`; a cut text ends with an ellipsis. */
  truncate(text: string, cells: number): string;
  /** Pads the text with spaces to a width of `cells`. */
  pad(text: string, cells: number): string;
}

/** Measures text as a terminal shows it: wide characters take two cells, combining characters none. */
export async function createTextMeasurer(): Promise<TextMeasurer> {
  const { default: stringWidth } = await import('string-width');
  return measurerWith((text) => stringWidth(text));
}

/**
 * Creates a measurer for the given texts. If all texts are ASCII, the module `string-width` is not loaded, because
 * loading it takes as long as the start of Node.
 */
export async function createTextMeasurerForTexts(texts: Iterable<string>): Promise<TextMeasurer> {
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

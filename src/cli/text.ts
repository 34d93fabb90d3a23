import type { OutputSink, ProcessEnvironment } from '../platform/host.ts';

export interface TextMeasurer {
  /** The width of a text in terminal cells. */
  measure(text: string): number;
  /** Cuts the text to a width of `cells`; a cut text ends with an ellipsis. */
  truncate(text: string, cells: number): string;
  /** Pads the text with spaces to a width of `cells`. */
  pad(text: string, cells: number): string;
}

/** Measures text as a terminal shows it: wide characters take two cells, combining characters none. */
export async function createMeasurer(): Promise<TextMeasurer> {
  const { default: stringWidth } = await import('string-width');
  return measurerWith((text) => stringWidth(text));
}

/**
 * Creates a measurer for the given texts. If all texts are ASCII, the module `string-width` is not loaded, because
 * loading it takes as long as the start of Node.
 */
export async function measurerFor(texts: Iterable<string>): Promise<TextMeasurer> {
  for (const text of texts) if (!/^[ -~]*$/.test(text)) return createMeasurer();
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

/**
 * Breaks a command into lines of at most `width` characters that a shell accepts: with a backslash at the end, outside
 * quotes and `$(…)`. An option stays with its value, a redirection with its file, and a pipe with the command after it. A
 * shorter command is returned unchanged.
 */
export function breakCommand(command: string, width: number): readonly string[] {
  if (command.length <= width) return [command];
  const indent = '    ';
  const lines: string[] = [];
  let line = '';
  for (const part of partsOf(command)) {
    // Every line but the last ends with a blank and a backslash.
    if (line !== '' && line.length + 1 + part.length > width - 2) {
      lines.push(`${line} \\`);
      line = indent + part;
    } else line = line === '' ? part : `${line} ${part}`;
  }
  return [...lines, line];
}

function partsOf(command: string): readonly string[] {
  const parts: string[] = [];
  for (const word of wordsOf(command)) {
    const last = parts.at(-1);
    const belongsToLast =
      last !== undefined && (/^(-[^ ]*|&&)$/.test(last) || /(^| )[|<>]$/.test(last) || /^\d?>+$/.test(last));
    if (belongsToLast && !/^-/.test(word)) parts.splice(-1, 1, `${last} ${word}`);
    else parts.push(word);
  }
  return parts;
}

/** Splits at blanks outside quotes and parentheses. */
function wordsOf(command: string): readonly string[] {
  const words: string[] = [];
  let [word, quote, depth, isEscaped] = ['', '', 0, false];
  for (const character of command) {
    if (isEscaped) isEscaped = false;
    else if (character === '\\' && quote !== "'") isEscaped = true;
    else if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === "'" || character === '"') quote = character;
    else if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    if (character === ' ' && quote === '' && depth === 0) {
      words.push(word);
      word = '';
    } else word += character;
  }
  return [...words, word];
}

/**
 * The text in lines of at most `width`, broken between words; lines after the first begin with `indent` blanks. A text in
 * backquotes, a command at the end after a colon, and a word that is longer than a line stay in one piece. A command that is
 * longer than a line is broken as a shell accepts it, so that it can be pasted; in a narrow column it stays in one piece, too.
 * @param measure the width of a text; without it, the number of characters
 */
export function wrapWords(
  text: string,
  width: number,
  indent = 0,
  measure: (text: string) => number = ({ length }) => length,
): string {
  if (measure(text) <= width) return text;
  const blanks = ' '.repeat(indent);
  const lines: string[] = [];
  let line = '';
  for (const part of unbreakableParts(text)) {
    if (line === '' || measure(line + part) <= width) {
      line += part;
      continue;
    }
    lines.push(line);
    const [first = '', ...rest] =
      isShellCommand(part) && width - indent >= minCommandWidth
        ? breakCommand(part.trimStart(), width - indent).map((each) => blanks + each)
        : [blanks + part.trimStart()];
    const all = [first, ...rest];
    lines.push(...all.slice(0, -1));
    line = all.at(-1) ?? '';
  }
  return [...lines, line].join('\n');
}

/** In a narrower column, a broken command would have nearly one line for each word. */
const minCommandWidth = 30;

/** Words and commands, each with the blanks before it. */
function unbreakableParts(line: string): readonly string[] {
  const [command = ''] = /(?<=: )(?:cloudctl|psql) [^`]*$/.exec(line) ?? [];
  const prose = line.slice(0, line.length - command.length);
  const words = prose.match(/ *(?:`[^`]*`|[^ ])+/g) ?? [];
  return command === '' ? words : [...words, ` ${command}`];
}

/** Other texts in backquotes, such as SQL, cannot be continued with a backslash. */
function isShellCommand(part: string): boolean {
  return /^ *`?(?:[A-Z_]+=[^ ]+ )*(?:cloudctl|psql) /.test(part);
}

/**
 * Breaks the lines of a text between words, so that a terminal does not break them inside a word. Continued lines are
 * indented.
 * @param columns the width of the terminal; undefined: not a terminal, the text is returned unchanged
 */
export async function wrapForTerminal(text: string, columns: number | undefined): Promise<string> {
  if (columns === undefined || columns < minColumns) return text;
  const ruler = await measurerFor([text]);
  const wrap = (line: string): string =>
    wrapWords(line, columns, line.search(/[^ ]|$/) + 2, (part) => ruler.measure(part));
  return text.split('\n').map(wrap).join('\n');
}

/** The minimum width for breaking lines: on a narrower terminal, most of each line would be empty. */
const minColumns = 30;

/**
 * The text as a hyperlink of the terminal (OSC 8). A URL that could end the sequence, or is not an http URL in visible ASCII,
 * is left out.
 */
export function hyperlink(text: string, url: string): string {
  return /^https?:\/\/[\x21-\x7e]+$/.test(url) ? `\u001b]8;;${url}\u001b\\${text}\u001b]8;;\u001b\\` : text;
}

/**
 * Whether the terminal shows hyperlinks. Terminals without hyperlinks may print the escape sequence. If FORCE_HYPERLINK is
 * set, the variable decides.
 */
export function showsHyperlinks({ isTTY }: Pick<OutputSink, 'isTTY'>, env: ProcessEnvironment): boolean {
  if (!isTTY || env.TERM === 'dumb') return false;
  if (env.FORCE_HYPERLINK !== undefined) return !['', '0', 'false'].includes(env.FORCE_HYPERLINK);
  // A terminal multiplexer passes on only sequences that it supports itself, whatever the outer terminal supports.
  if (env.TMUX !== undefined || env.STY !== undefined || /^(screen|tmux)/.test(env.TERM ?? ''))
    return env.TERM_PROGRAM === 'tmux' && Number.parseFloat(env.TERM_PROGRAM_VERSION ?? '') >= 3.4;
  if (env.VTE_VERSION !== undefined) return Number(env.VTE_VERSION) >= 5000;
  return (
    env.WT_SESSION !== undefined ||
    env.KONSOLE_VERSION !== undefined ||
    /^(xterm-kitty|xterm-ghostty|alacritty|wezterm|foot)/.test(env.TERM ?? '') ||
    ['iTerm.app', 'WezTerm', 'vscode', 'ghostty', 'Hyper', 'rio'].includes(env.TERM_PROGRAM ?? '')
  );
}

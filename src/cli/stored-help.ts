import { readFileSync } from 'node:fs';
import type { CommandDescription } from './command.ts';

/**
 * Help that was rendered when the program was built, in the file help.txt beside the bundle: one line of JSON with the byte
 * ranges of each entry after that line, then the entries. Without the file, as in tests of the sources, help is rendered live.
 */
interface StoredHelpRanges {
  readonly page: ByteRange;
  /** The row of the command in the command table, as JSON; absent for a help topic. */
  readonly description?: ByteRange;
}

type ByteRange = readonly [start: number, length: number];

/**
 * A help entry before it is stored. `words` are those of the command, without the program's name, or `help` and a
 * topic.
 */
export interface StoredEntry {
  readonly words: readonly string[];
  readonly page: string;
  readonly description?: CommandDescription;
}

/** The stored help page for a command line that only requests help. Used when the output is not a terminal. */
export function storedPage(argv: readonly string[]): Uint8Array | undefined {
  for (const words of helpWords(argv)) {
    const page = findStored(words, ({ page: range }) => range);
    if (page !== undefined) return page;
  }
  return undefined;
}

/** Returns the description that the build stored for the command with these words; does not load the file of the command. */
export function storedCommand(words: readonly string[]): CommandDescription | undefined {
  const found = findStored(words, ({ description }) => description);
  return found === undefined ? undefined : JSON.parse(found.toString());
}

/** A name that completion suggests. */
export interface CompletableName {
  readonly value: string;
  readonly description?: string;
}

/**
 * The completion names of a source that are the same in every run (`fixedNames` of CliProgram); undefined if the build
 * stored none.
 */
export function storedNames(from: string): readonly CompletableName[] | undefined {
  const found = findStored(namesKey(from), ({ page }) => page);
  return found === undefined ? undefined : JSON.parse(found.toString());
}

/**
 * The key under which help.txt stores completion names. No help request has the same words, because one word begins with a
 * dash.
 */
export function namesKey(from: string): readonly string[] {
  return ['--names', from];
}

/** The content of help.txt. Equal texts are stored once. */
export function encodeHelp(entries: readonly StoredEntry[]): string {
  const texts: string[] = [];
  const starts = new Map<string, number>();
  let end = 0;
  const place = (text: string): ByteRange => {
    const length = Buffer.byteLength(text);
    const start = starts.get(text) ?? end;
    if (start === end) {
      texts.push(text);
      starts.set(text, start);
      end += length;
    }
    return [start, length];
  };
  const ranges = entries.map(({ words, page, description }): [string, StoredHelpRanges] => [
    words.join(' '),
    { page: place(page), ...(description === undefined ? {} : { description: place(JSON.stringify(description)) }) },
  ]);
  return `${JSON.stringify(Object.fromEntries(ranges))}\n${texts.join('')}`;
}

/**
 * Recognizes help requests without other options: `X --help`, `X -h` and `help X`. Returns the words under which the help
 * may be stored.
 */
export function helpWords(argv: readonly string[]): readonly (readonly string[])[] {
  const isPlain = (words: readonly string[]): boolean => !words.some((word) => word.startsWith('-'));
  const before = argv.slice(0, -1);
  const last = argv.at(-1);
  if ((last === '--help' || last === '-h') && isPlain(before)) return before[0] === 'help' ? [] : [before];
  return argv[0] === 'help' && isPlain(argv) ? [argv, argv.slice(1)] : [];
}

function findStored(
  words: readonly string[],
  choose: (ranges: StoredHelpRanges) => ByteRange | undefined,
): Buffer | undefined {
  try {
    stored ??= readStored();
    const key = words.join(' ');
    const ranges = Object.hasOwn(stored.ranges, key) ? stored.ranges[key] : undefined;
    const range = ranges === undefined ? undefined : choose(ranges);
    return range === undefined ? undefined : stored.content.subarray(range[0], range[0] + range[1]);
  } catch {
    return undefined;
  }
}

let stored: { readonly ranges: Readonly<Record<string, StoredHelpRanges>>; readonly content: Buffer } | undefined;

function readStored(): NonNullable<typeof stored> {
  const file = readFileSync(new URL('./help.txt', import.meta.url));
  const end = file.indexOf('\n');
  return { ranges: JSON.parse(file.toString('utf8', 0, end)), content: file.subarray(end + 1) };
}

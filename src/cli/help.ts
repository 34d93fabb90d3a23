import { createStyles, type TerminalStyles } from './color.ts';
import {
  type CommandDescription,
  type CommandGroup,
  type ExampleSpec,
  type HelpTopics,
  type LazyCommand,
  type OptionSpec,
  optionTerm,
  type TopicPage,
} from './command.ts';
import { describeCommand } from './command-table.ts';
import { type CompletableName, namesKey, type StoredEntry } from './stored-help.ts';
import { breakCommand, wrapWords } from './text.ts';

/**
 * Creates the entries of help.txt: every help page as rendered without a terminal, every command description, and the
 * completion names that are the same in every run. Loads the file of every command.
 */
export async function helpFileEntries<C>(
  name: string,
  root: CommandGroup<C>,
  topics: HelpTopics,
  fixedNames: Readonly<Record<string, readonly CompletableName[]>> = {},
): Promise<readonly StoredEntry[]> {
  const style: HelpOptions = { columns: undefined, color: false };
  const below = async (
    words: readonly string[],
    path: readonly string[],
    node: CommandGroup<C> | LazyCommand<C>,
  ): Promise<readonly StoredEntry[]> => {
    const page = await renderHelp({ path, node }, style, topics);
    const entry = { words, page, description: await describeCommand(path, node) };
    if (node.kind === 'command') return [entry];
    // The help page of an alias is that of the command or group to which the alias refers.
    const names = [...Object.keys(node.children).map((word) => [word, word]), ...Object.entries(node.aliases ?? {})];
    const entries = names.map(([word = '', meant = '']) => {
      const child = node.children[meant];
      return child === undefined ? [] : below([...words, word], [...path, meant], child);
    });
    return [entry, ...(await Promise.all(entries)).flat()];
  };
  const pages = Object.entries(topics).map(async ([topic, { load }]) => ({
    words: ['help', topic],
    page: await renderTopic(await load(), style),
  }));
  const names = Object.entries(fixedNames).map(([from, list]) => ({
    words: namesKey(from),
    page: JSON.stringify(list),
  }));
  return [...(await below([], [name], root)), ...(await Promise.all(pages)), ...names];
}

export interface HelpSubject<C> {
  /** The words of the command, beginning with the program's name. */
  readonly path: readonly string[];
  readonly node: CommandGroup<C> | LazyCommand<C>;
}

export interface HelpOptions {
  /** The width of the terminal in columns; undefined when the output is not a terminal. */
  readonly columns: number | undefined;
  readonly color: boolean;
}

/** The help of a group or a command, ready to print. Loads only the file of the command whose help is shown. */
export async function renderHelp<C>(
  { path, node }: HelpSubject<C>,
  style: HelpOptions,
  topics: HelpTopics = {},
): Promise<string> {
  const page = await layoutOf(style);
  return joinSections(sectionsOf(await describeCommand(path, node), page, topics));
}

/** Renders the help page of a topic (`cloudctl help NAME`). */
export async function renderTopic({ text, sections = [], examples = [] }: TopicPage, style: HelpOptions) {
  const page = await layoutOf(style);
  const entries = sections.map((section) => entriesSection(section.title, section.entries, page));
  return joinSections([paragraphs(text, page), ...entries, examplesSection(examples, page)]);
}

async function layoutOf({ columns, color }: HelpOptions): Promise<HelpLayout> {
  return { width: Math.min(Math.max(columns ?? 80, 40), 100), paint: await createStyles(color) };
}

function joinSections(sections: readonly string[]): string {
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

interface HelpLayout {
  readonly width: number;
  readonly paint: TerminalStyles;
}

interface HelpEntry {
  readonly term: string;
  readonly text: string;
}

function sectionsOf(command: CommandDescription, page: HelpLayout, topics: HelpTopics): readonly string[] {
  const { words, summary, description = '', synopsis, options, examples, environment, commands } = command;
  const positionals = command.arguments.map(({ name, description: text, choices, variadic }) => ({
    term: variadic === true ? `${name}...` : name,
    text: withChoices(text, choices),
  }));
  const subcommands = commands.map(({ name, summary: text }) => ({
    term: name,
    text: name === command.defaultCommand ? `${text} (default)` : text,
  }));
  return [
    summarySentence(summary, page),
    paragraphs(description, page),
    section('Usage', wrapWords(synopsis, page.width - 2, 4).split('\n'), page),
    entriesSection('Commands', subcommands, page),
    entriesSection('Arguments', positionals, page),
    ...optionsSections(options, page),
    examplesSection(examples, page),
    entriesSection(
      'Environment',
      words.length === 1 ? [] : environment.map(({ name, description: text }) => ({ term: name, text })),
      page,
    ),
    words.length > 1
      ? ''
      : entriesSection(
          'Topics',
          Object.entries(topics).map(([name, { summary: text }]) => ({ term: `help ${name}`, text })),
          page,
        ),
    [
      ...(commands.length === 0 ? [] : [`Use \`${words.join(' ')} COMMAND --help\` for more about a command.`]),
      `Options of every command: \`${words[0]} help options\`.`,
    ]
      .map((line) => wrapWords(line, page.width, 0))
      .join('\n'),
  ];
}

function examplesSection(examples: readonly ExampleSpec[], page: HelpLayout): string {
  const lines = examples.flatMap(({ text, command }, at) => [
    ...(at === 0 ? [] : ['']),
    ...wrapWords(`# ${text}`, page.width - 2, 2)
      .split('\n')
      .map(page.paint.dim),
    ...breakCommand(`$ ${command}`, page.width - 2),
  ]);
  return lines.length === 0 ? '' : section('Examples', lines, page);
}

// The options without a heading come first: they are those of the command itself.
function optionsSections(options: readonly OptionSpec[], page: HelpLayout): readonly string[] {
  const titles = new Set([undefined, ...options.map((option) => option.section)]);
  return [...titles].map((title) => {
    const entries = optionEntries(options.filter((option) => option.section === title));
    return entriesSection(title ?? 'Options', entries, page);
  });
}

/** The entries of an options section in a help page. */
export function optionEntries(options: readonly OptionSpec[]): readonly HelpEntry[] {
  return options.map((option) => ({
    term: optionTerm(option),
    text: withChoices(option.description, option.choices) + (option.multiple === 'repeat' ? ' (may be repeated)' : ''),
  }));
}

// The choices of an option are not appended when its description already names them.
function withChoices(description: string, choices: readonly string[] | undefined): string {
  if (choices === undefined || choices.every((choice) => description.includes(choice))) return description;
  return `${description}: ${choices.join(', ')}`;
}

function section(title: string, lines: readonly string[], { paint: { bold } }: HelpLayout): string {
  return [bold(`${title}:`), ...lines.map((line) => (line === '' ? '' : `  ${line}`))].join('\n');
}

function entriesSection(title: string, items: readonly HelpEntry[], page: HelpLayout): string {
  if (items.length === 0) return '';
  const widest = Math.max(...items.map(({ term }) => term.length));
  const column = Math.min(widest, Math.floor(page.width / 2) - 4);
  const lines = items.flatMap(({ term, text: description }) => {
    const text = capitalized(description);
    // A long word in a description moves the description column to the left, so that the terminal does not cut the word.
    const longest = Math.max(...text.split(' ').map((word) => word.length));
    const indent = Math.min(column + 2, Math.max(4, page.width - 2 - longest));
    const [first = '', ...more] = wrapWords(text, page.width - 2 - indent, 0).split('\n');
    const rest = more.map((line) => ' '.repeat(indent) + line);
    // A help term that is wider than its column is printed on a separate line.
    return term.length > indent - 2
      ? [page.paint.cyan(term), `${' '.repeat(indent)}${first}`, ...rest]
      : [`${page.paint.cyan(term)}${' '.repeat(indent - term.length)}${first}`, ...rest];
  });
  return section(title, lines, page);
}

function summarySentence(summary: string, { width }: HelpLayout): string {
  const text = capitalized(summary);
  return wrapWords(/[.!?]$/.test(text) ? text : `${text}.`, width, 0);
}

/** A description that begins with a value (`none: …`, `auth_url, base_url`) or with code is not capitalized. */
function capitalized(text: string): string {
  return /^[a-z_]+(:| or )|^[a-z]+_/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

function paragraphs(text: string, { width }: HelpLayout): string {
  // Indented lines of help text are examples, so they are not wrapped.
  return text
    .trim()
    .split(/\n{2,}/)
    .map((paragraph) => (/^\s|\n\s/.test(paragraph) ? paragraph : wrapWords(paragraph.replaceAll('\n', ' '), width, 0)))
    .join('\n\n');
}

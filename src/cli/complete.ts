import {
  type CommandDescription,
  type CommandGroup,
  type FoundCommand,
  findCommand,
  type HelpTopics,
  type LazyCommand,
  type OptionSpec,
} from './command.ts';
import { describeCommand, globalOptions, helpOptions } from './command-table.ts';
import { type CompletableName, storedNames } from './stored-help.ts';

/**
 * Processes `__complete -- WORDS…`, which the completion scripts run at each press of Tab. The last word is the one that the
 * user is typing; it may be empty. Prints one line for each suggestion: the value, a tab and its description. The line
 * `:file` or `:folder` makes the shell complete a path. The file of a command is loaded only if the build stored no
 * description of the command.
 */
export async function completeLine<C>(
  root: CommandGroup<C>,
  words: readonly string[],
  namesFrom: NameSource,
  topics: HelpTopics = {},
): Promise<readonly string[]> {
  if (words[0] === 'help' && words.length === 2)
    return suggest(
      [
        ...Object.entries(topics).map(([value, { summary }]) => ({ value, description: summary })),
        ...commandSuggestions(root),
      ],
      words[1] ?? '',
    );
  const cursor = await readWords(root, words.slice(0, -1));
  // Windows PowerShell cannot pass an empty argument to a program, so it passes a pair of quotes instead.
  const last = words.at(-1) ?? '';
  const typed = last === '""' ? '' : last;
  const values = (spec: ValueSpec) => valuesOf(spec, cursor, namesFrom);
  // Bash splits `--output=json` into three words.
  if (cursor.option !== undefined)
    return suggestValues(cursor.option, await values(cursor.option), typed === '=' ? '' : typed);
  if (!cursor.isEnded && typed.startsWith('-')) {
    const { option, value, flag } = await readFlag(cursor, typed);
    if (value === undefined) return suggest(await flagSuggestions(cursor), typed);
    return option === undefined ? [] : suggestValues(option, await values(option), value, flag);
  }
  const { arguments: positionals = [] } = await descriptionOf(cursor);
  const variadic = positionals.at(-1)?.variadic === true ? positionals.at(-1) : undefined;
  const positional = positionals[cursor.positionals.length] ?? variadic;
  return suggest(
    [
      ...(cursor.positionals.length === 0 && !cursor.isEnded ? commandSuggestions(cursor.node) : []),
      ...(positional === undefined ? [] : await values(positional)),
    ],
    typed,
  );
}

/**
 * Returns the names of a completion source (`from`). `typed` contains the options that precede the cursor, with their
 * values.
 */
export type NameSource = (
  from: string,
  typed: ReadonlyMap<string, string>,
) => readonly CompletableName[] | Promise<readonly CompletableName[]>;

type ValueSpec = Pick<OptionSpec, 'choices' | 'completion'>;

type Node<C> = CommandGroup<C> | LazyCommand<C>;

interface SelectedNode<C> {
  /** The group or command that the words before the cursor select. */
  readonly node: Node<C>;
  /** The path of the group or command: its words without the program's name, aliases replaced. */
  readonly path: readonly string[];
}

interface Cursor<C> extends SelectedNode<C> {
  /** The arguments of the command line before the cursor. */
  readonly positionals: readonly string[];
  /** The option whose value the user is typing. */
  readonly option: OptionSpec | undefined;
  /** True after the word `--`, because every later word is an argument. */
  readonly isEnded: boolean;
  /** The values of the options before the cursor, by name. */
  readonly typed: ReadonlyMap<string, string>;
}

/** A completion value with its description, or a kind of path that the shell completes. */
type Suggestion = { readonly value: string; readonly description: string } | ':file' | ':folder';

async function readWords<C>(root: CommandGroup<C>, words: readonly string[]): Promise<Cursor<C>> {
  let node: Node<C> = root;
  const path: string[] = [];
  const positionals: string[] = [];
  let option: OptionSpec | undefined;
  let isEnded = false;
  const typed = new Map<string, string>();
  for (const word of words) {
    if (option !== undefined) {
      if (word === '=') continue;
      typed.set(option.name, word);
      option = undefined;
    } else if (isEnded) positionals.push(word);
    else if (word === '--') isEnded = true;
    else if (word.startsWith('-')) {
      const found = await readFlag({ node, path }, word);
      if (found.option !== undefined && found.value !== undefined) typed.set(found.option.name, found.value);
      else option = found.option;
    } else {
      const found: FoundCommand<C> | undefined = positionals.length === 0 ? findCommand(node, word) : undefined;
      if (found === undefined) positionals.push(word);
      else {
        node = found.child;
        path.push(found.name);
      }
    }
  }
  return { node, path, positionals, option, isEnded, typed };
}

interface TypedFlag {
  /** The option of the word that takes a value; undefined for flags and unknown options. */
  readonly option?: OptionSpec | undefined;
  /** The value in the same word, as in `--name=value` and `-nvalue`; undefined if it is the next word. */
  readonly value?: string;
  /** What stands before the value. */
  readonly flag?: string;
}

/** Reads `--name`, `--name=value`, `-n`, `-nvalue`, and letters of flags before them, as in `-qo`. */
async function readFlag<C>(selected: SelectedNode<C>, word: string): Promise<TypedFlag> {
  const options = await optionsOf(selected);
  if (word.startsWith('--')) {
    const [, flag = word, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    const option = options.find(({ name, valueName }) => valueName !== undefined && flag === `--${name}`);
    return value === undefined ? { option } : { option, value, flag: `${flag}=` };
  }
  for (let at = 1; at < word.length; at += 1) {
    const option = options.find(({ short }) => short === word[at]);
    if (option === undefined) return {};
    if (option.valueName === undefined) continue;
    const value = word.slice(at + 1);
    return value === '' ? { option } : { option, value, flag: word.slice(0, at + 1) };
  }
  return {};
}

/** The description of a command; for a group, that of its default command. */
async function descriptionOf<C>({ node, path }: SelectedNode<C>): Promise<CommandDescription> {
  const child = node.kind === 'group' && node.defaultCommand !== undefined ? node.defaultCommand : undefined;
  const chosen = node.kind === 'group' && child !== undefined ? node.children[child] : node;
  return describeCommand(['', ...path, ...(child === undefined ? [] : [child])], chosen ?? node);
}

async function optionsOf<C>(selected: SelectedNode<C>): Promise<readonly OptionSpec[]> {
  return [...globalOptions, ...helpOptions, ...(await descriptionOf(selected)).options];
}

function commandSuggestions<C>(node: Node<C>): readonly Suggestion[] {
  if (node.kind === 'command') return [];
  return Object.entries(node.children).map(([value, { summary }]) => ({ value, description: summary }));
}

async function flagSuggestions<C>(selected: SelectedNode<C>): Promise<readonly Suggestion[]> {
  const options = await optionsOf(selected);
  return options.flatMap(({ name, short, description }) => [
    ...(short === undefined ? [] : [{ value: `-${short}`, description }]),
    { value: `--${name}`, description },
  ]);
}

async function valuesOf<C>(
  { choices, completion }: ValueSpec,
  cursor: Cursor<C>,
  namesFrom: NameSource,
): Promise<readonly Suggestion[]> {
  const source = choices ?? completion ?? [];
  if (source === 'file' || source === 'folder') return [`:${source}`];
  if (source === 'column' || source === 'field') {
    const { columns = [], fields = [] } = await descriptionOf(cursor);
    return (source === 'column' ? columns : fields).map((value) => ({ value, description: '' }));
  }
  if ('by' in source) {
    const before = cursor.positionals.at(-1) ?? '';
    return (Object.hasOwn(source.by, before) ? (source.by[before] ?? []) : []).map((value) => ({
      value,
      description: '',
    }));
  }
  if ('from' in source) {
    const names = storedNames(source.from) ?? (await namesFrom(source.from, cursor.typed));
    return names.map(({ value, description = '' }) => ({ value, description }));
  }
  return source.map((value) => ({ value, description: '' }));
}

/**
 * The completion values of an option. A value without a description of its own has the description of the option. In a list,
 * the values that are typed already are not suggested again.
 */
function suggestValues(
  { description, multiple }: OptionSpec,
  values: readonly Suggestion[],
  typed: string,
  prefix = '',
): readonly string[] {
  const end = multiple === 'list' ? typed.lastIndexOf(',') + 1 : 0;
  const before = typed.slice(0, end).split(',');
  const described = values
    .map((value) => (typeof value !== 'string' && value.description === '' ? { ...value, description } : value))
    .filter((value) => typeof value === 'string' || !before.includes(value.value));
  return suggest(described, typed.slice(end), prefix + typed.slice(0, end));
}

function suggest(suggestions: readonly Suggestion[], typed: string, prefix = ''): readonly string[] {
  return suggestions.flatMap((suggestion) => {
    if (typeof suggestion === 'string') return [suggestion];
    const { value, description } = suggestion;
    if (!value.startsWith(typed)) return [];
    return [description === '' ? `${prefix}${value}` : `${prefix}${value}\t${description}`];
  });
}

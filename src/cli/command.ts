import type { ExitCode } from '../base/errors.ts';

/** Formats the synopsis of a command: `cloudctl droplets create [NAME...] [OPTIONS]`. */
export function formatSynopsis(path: string, spec: Pick<CommandSpec<never>, 'arguments' | 'options'>): string {
  const words = (spec.arguments ?? []).map(({ name, required, variadic }) => {
    const word = variadic === true ? `${name}...` : name;
    return required === true ? word : `[${word}]`;
  });
  return [path, ...words, '[OPTIONS]'].join(' ');
}

/** Formats an option term such as `-o, --output FORMAT`; an option without a short form is indented so that the names align. */
export function optionTerm({ name, short, valueName: value }: OptionSpec): string {
  const start = short === undefined ? '    ' : `-${short}, `;
  return `${start}--${name}${value === undefined ? '' : ` ${value}`}`;
}

/** A page of `cloudctl help NAME` about a topic that is not a command. */
export interface HelpTopic {
  /** The summary of a help topic is one line in lower case without a full stop. */
  readonly summary: string;
  readonly load: () => Promise<TopicPage>;
}

/** The help topics by name, in the order of the list of topics. */
export type HelpTopics = Readonly<Record<string, HelpTopic>>;

export interface TopicPage {
  readonly text: string;
  readonly sections?: readonly HelpTopicSection[];
  readonly examples?: readonly ExampleSpec[];
}

interface HelpTopicSection {
  readonly title: string;
  readonly entries: readonly { readonly term: string; readonly text: string }[];
}

interface EnvironmentVariableSpec {
  readonly name: string;
  readonly description: string;
  /** Names of the commands or groups that read the variable; absent when every command reads it. */
  readonly commands?: readonly string[];
}

const login = ['auth setup', 'auth login'];
const targetCommands = ['preflight', 'migrate', 'cutover', 'compare', 'grants'].map((name) => `db ${name}`);
const sourceCommands = [...targetCommands, 'db watch', 'db stop', 'db rehearse', 'db sequences'];
const adminCommands = ['env', 'clock', 'faults', 'requests', 'token', 'snapshot', 'restore', 'reset'].map(
  (name) => `sandbox ${name}`,
);

/** The environment variables of the program, for help and reference pages (precedence: option > environment > profile > default). */
export const variableSpecs: readonly EnvironmentVariableSpec[] = [
  { name: 'CLOUDCTL_PROFILE', description: 'same as --profile' },
  { name: 'CLOUDCTL_OUTPUT', description: 'same as --output' },
  { name: 'CLOUDCTL_AUTH_URL', description: 'same as --auth-url' },
  { name: 'CLOUDCTL_BASE_URL', description: 'same as --base-url' },
  { name: 'CLOUDCTL_CLIENT_ID', description: 'client ID of the registered application', commands: login },
  { name: 'CLOUDCTL_CLIENT_SECRET', description: 'client secret of the registered application', commands: login },
  { name: 'CLOUDCTL_CALLBACK_URL', description: 'callback URL of the registered application', commands: login },
  { name: 'CLOUDCTL_SCOPE', description: 'scope to request: read or "read write"', commands: login },
  { name: 'CLOUDCTL_FLOW', description: 'authorization flow: code or implicit', commands: login },
  {
    name: 'CLOUDCTL_TOKEN_PARAMS',
    description: 'where the token endpoint reads its parameters: query, body or basic',
    commands: login,
  },
  {
    name: 'CLOUDCTL_ACCESS_TOKEN',
    description: 'access token to use instead of token_command or the stored session; ignored with --profile',
  },
  { name: 'CLOUDCTL_CREDENTIAL_STORE', description: 'credential store: keychain or file' },
  { name: 'CLOUDCTL_CONFIG_DIR', description: 'folder of config.json' },
  { name: 'CLOUDCTL_STATE_DIR', description: 'folder for locks, sessions in files, batch ledgers and baselines' },
  {
    name: 'CLOUDCTL_CODE_CACHE',
    description: 'whether starts keep compiled code in the state folder: on or off (default: on, off in CI)',
  },
  { name: 'CLOUDCTL_SOURCE', description: 'same as --source', commands: sourceCommands },
  { name: 'CLOUDCTL_REHEARSE_INTO', description: 'same as --into', commands: ['db rehearse'] },
  {
    name: 'CLOUDCTL_REHEARSE_INTO_PASSWORD',
    description: 'password for the server that --into names',
    commands: ['db rehearse'],
  },
  { name: 'CLOUDCTL_TARGET', description: 'same as --target', commands: targetCommands },
  {
    name: 'CLOUDCTL_TARGET_PASSWORD',
    description: 'password for the server that --target names',
    commands: targetCommands,
  },
  {
    name: 'CLOUDCTL_CLUSTER_NAME',
    description: 'same as --cluster name=URL, hidden from other users of this machine',
    commands: ['sandbox start'],
  },
  { name: 'CLOUDCTL_SANDBOX_ADMIN_URL', description: 'same as --admin-url', commands: adminCommands },
  { name: 'CLOUDCTL_SANDBOX_ADMIN_TOKEN', description: 'admin token of the sandbox', commands: adminCommands },
  { name: 'HTTPS_PROXY, HTTP_PROXY, NO_PROXY', description: 'proxy for HTTP requests, and hosts that bypass it' },
  { name: 'SSL_CERT_FILE', description: 'CA certificates (PEM file) used instead of those of the system' },
  { name: 'NODE_EXTRA_CA_CERTS', description: 'additional CA certificates (PEM file)' },
  {
    name: 'NO_COLOR, FORCE_COLOR, CI, BROWSER',
    description: 'set colour, CI mode and the browser as in other programs',
  },
  {
    name: 'PAGER',
    description: 'command that shows output longer than the screen; empty for none (default: less)',
  },
  {
    name: 'PGPASSWORD, PGPASSFILE, REDISCLI_AUTH',
    description: 'password of the source database',
    commands: [...sourceCommands, 'db inventory'],
  },
];

/** The environment variables of the command or group that the words name; without words, all variables. */
export function selectVariables(words: readonly string[]): readonly EnvironmentVariableSpec[] {
  if (words.length === 0) return variableSpecs;
  const path = words.join(' ');
  return variableSpecs.filter(({ commands = [] }) =>
    commands.some((command) => path === command || path.startsWith(`${command} `)),
  );
}

/**
 * One command as its file in src/commands describes it: arguments and options for the parser, texts for help and completion,
 * and the function that runs the command. The name and the summary of a command are in the command tree
 * (src/commands/index.ts). `C` is the context that `run` receives.
 */
export interface CommandSpec<C> {
  /** Paragraphs that `--help` prints below the summary of the command. */
  readonly description?: string;
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  readonly examples?: readonly ExampleSpec[];
  /** The columns that completion suggests for `--format`. */
  readonly columns?: readonly { readonly name: string }[];
  /** The members of the JSON objects that the command prints, which `--json` accepts. */
  readonly fields?: readonly string[];
  readonly run: (context: C, args: ParsedArgs) => Promise<ExitCode>;
}

export interface ArgumentSpec {
  /** The name of the argument in capital letters, such as `PROFILE`. */
  readonly name: string;
  readonly description: string;
  readonly required?: boolean;
  /** Whether the argument accepts all remaining words of the command line. */
  readonly variadic?: boolean;
  /** The only values that the argument accepts, besides those that `isOtherValue` accepts. */
  readonly choices?: readonly string[];
  readonly isOtherValue?: (value: string) => boolean;
  readonly completion?: CompletionSource;
  /** The command that the words of a line with too many of them probably mean. */
  readonly meantCommand?: (words: readonly string[]) => string | undefined;
  /** The command that prints the values of the argument, for the error when it is missing. */
  readonly listedBy?: string;
}

export interface OptionSpec {
  /** The name of the option without dashes, such as `no-browser`. */
  readonly name: string;
  readonly short?: string;
  readonly description: string;
  /** The heading under which help lists the option; without it, the option is listed under `Options`. */
  readonly section?: string;
  /** The placeholder of the option's value, in capitals (`--limit N`); absent for a flag. */
  readonly valueName?: string;
  /** `list` accepts `a,b,c` and repeated options; `repeat` accepts only repeated options, where a comma is part of the value. */
  readonly multiple?: 'list' | 'repeat';
  /** The only values that the option accepts. */
  readonly choices?: readonly string[];
  readonly completion?: CompletionSource;
}

/**
 * What completion suggests for a value that is not limited to `choices`. `column` and `field`: the columns and the JSON fields
 * of the command; `from`: names that the program knows, such as those of profiles; `by`: values for the argument before this one.
 */
type CompletionSource =
  | 'file'
  | 'folder'
  | 'column'
  | 'field'
  | { readonly from: string }
  | { readonly by: Readonly<Record<string, readonly string[]>> }
  | readonly string[];

export interface ExampleSpec {
  readonly text: string;
  readonly command: string;
}

/** The arguments and options of one run, checked against the specification of the command. */
export interface ParsedArgs {
  /** Arguments that are not options, in the order of the command line. */
  readonly positionals: readonly string[];
  /** The last value of an option that may be repeated. */
  value(option: string): string | undefined;
  /** Every value of an option in the order of the command line; lists are split at commas. */
  values(option: string): readonly string[];
  /** Whether the command line contains the option. */
  has(option: string): boolean;
}

export type CommandTree<C> = Readonly<Record<string, CommandGroup<C> | LazyCommand<C>>>;

/** A command whose file is loaded only when the command is typed, so that the program starts fast. */
export interface LazyCommand<C> {
  readonly kind: 'command';
  /** The summary of a command is one line about its object and effect: imperative, lower case, without a full stop. */
  readonly summary: string;
  readonly load: () => Promise<CommandSpec<C>>;
}

export interface CommandGroup<C> {
  readonly kind: 'group';
  readonly summary: string;
  /** Paragraphs that `--help` prints below the summary of the group. */
  readonly description?: string;
  readonly examples?: readonly ExampleSpec[];
  readonly children: CommandTree<C>;
  /** The command of the group that runs when the user types none, as `cloudctl droplets` runs `cloudctl droplets list`. */
  readonly defaultCommand?: string;
  /** Aliases for the commands of the group, such as `ls` for `list`, which help does not show. */
  readonly aliases?: Readonly<Record<string, string>>;
  /**
   * First words of commands of similar tools that this program does not have, each with the command that replaces it. A word in
   * capitals stands for the next word of the line.
   */
  readonly replacements?: Readonly<Record<string, string>>;
  /**
   * The command of this program for a line of a similar tool that no entry of `replacements` begins; an empty text if there is
   * none, although a command has a similar name.
   */
  readonly translate?: (words: readonly string[]) => string | undefined;
}

/**
 * One row of the command table: plain data from which help, completion and reference pages are made.
 * A group has `commands`, a command has `arguments` and `options`.
 */
export interface CommandDescription {
  /** The command as typed, with the program's name: `['cloudctl', 'droplets', 'create']`. */
  readonly words: readonly string[];
  readonly summary: string;
  readonly description?: string | undefined;
  readonly synopsis: string;
  readonly arguments: readonly ArgumentSpec[];
  /** The options of the command, without the global options. */
  readonly options: readonly OptionSpec[];
  readonly examples: readonly ExampleSpec[];
  /** The environment variables that this command reads; for the program itself, every environment variable. */
  readonly environment: readonly EnvironmentVariableSpec[];
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  /** The columns that completion suggests for `--format`. */
  readonly columns?: readonly string[] | undefined;
  /** The fields that completion suggests for `--json`. */
  readonly fields?: readonly string[] | undefined;
  /** The command of this group that runs when the user types no command after the name of the group. */
  readonly defaultCommand?: string | undefined;
}

/** The program itself: the group above all commands. */
export interface RootGroup<C> extends CommandGroup<C> {
  /** The help topics that `help NAME` prints. */
  readonly topics?: HelpTopics;
  /** The command that runs when the user types only the program name; if undefined, the help is printed instead. */
  readonly overview?: LazyCommand<C>;
}

/** A command of the tree; `load` reads its file when the command is typed. */
export function lazyCommand<C>(summary: string, load: () => Promise<CommandSpec<C>>): LazyCommand<C> {
  return { kind: 'command', summary, load };
}

export interface FoundCommand<C> {
  /** The name of the group or command in its group, also when an alias was typed. */
  readonly name: string;
  readonly child: CommandGroup<C> | LazyCommand<C>;
}

/**
 * The group or command that `word` names in a group, by its name or an alias; undefined when it names none, or when `node` is not
 * a group.
 */
export function findCommand<C>(node: CommandGroup<C> | LazyCommand<C>, word: string): FoundCommand<C> | undefined {
  if (node.kind !== 'group') return undefined;
  const aliases: Readonly<Record<string, string>> = node.aliases ?? {};
  const name = (Object.hasOwn(aliases, word) && aliases[word]) || word;
  const child = Object.hasOwn(node.children, name) ? node.children[name] : undefined;
  return child === undefined ? undefined : { name, child };
}

/** A group of commands with its summary; `more` has its default command, aliases and replacements. */
export function commandGroup<C>(
  summary: string,
  children: CommandTree<C>,
  more: Pick<CommandGroup<C>, 'defaultCommand' | 'replacements' | 'translate' | 'aliases'> = {},
): CommandGroup<C> {
  return { kind: 'group', summary, children, ...more };
}

/** Maps several words to the same replacement command. */
export function replaceWords(command: string, verbs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(verbs.map((verb) => [verb, command]));
}

/** The command that replaces the first words of a line of a similar tool; the longest entry decides. */
export function findReplacement(
  words: readonly string[],
  replacements: Readonly<Record<string, string>> = {},
): string | undefined {
  const counts = words.map((_, at) => at + 1).reverse();
  const count = counts.find((length) => Object.hasOwn(replacements, words.slice(0, length).join(' ').toLowerCase()));
  if (count === undefined) return undefined;
  return fillPlaceholder(replacements[words.slice(0, count).join(' ').toLowerCase()] ?? '', words[count]);
}

/** The command with the word of the line in place of its placeholder, if the word can be one and needs no quotes. */
export function fillPlaceholder(command: string, word = ''): string {
  return command.replace(/\b(?:ID|DROPLET|NAME|PROFILE|KEY)\b/, (placeholder) => {
    const pattern = placeholder === 'ID' ? /^\d{1,20}$/ : /^[a-z\d][\w.-]{0,62}$/i;
    return pattern.test(word) ? word : placeholder;
  });
}

/** The values of each option in order of appearance; a flag has an empty string as its value. */
export type OptionOccurrences = ReadonlyMap<string, readonly string[]>;

/**
 * Provides typed access to the parsed command-line arguments. Reading an option that is not in `options` is a bug in the
 * program and throws.
 */
export function createArgs(
  args: readonly string[],
  options: readonly OptionSpec[],
  occurrences: OptionOccurrences,
): ParsedArgs {
  const specs = new Map(options.map((option) => [option.name, option]));
  const valuesOf = (name: string): readonly string[] => {
    const spec = specs.get(name);
    if (spec === undefined) throw new Error(`option --${name} is not declared by this command`);
    const values = occurrences.get(name) ?? [];
    return spec.multiple === 'list' ? values.flatMap(splitList) : values;
  };
  return {
    positionals: args,
    value: (option) => valuesOf(option).at(-1),
    values: valuesOf,
    has: (option) => valuesOf(option).length > 0,
  };
}

/** Splits `a,b` into two values but keeps `web-{a,b}` as one value, because a comma inside braces is part of the value. */
export function splitList(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '{' && text.includes('}', at)) depth += 1;
    else if (text[at] === '}') depth = Math.max(0, depth - 1);
    else if (text[at] === ',' && depth === 0) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  parts.push(text.slice(start).trim());
  return parts;
}

import type { ArgumentSpec, OptionSpec } from '../command.ts';
import type { CommandDescription } from '../describe.ts';
import { globalOptions, helpOptions } from '../global-options.ts';

/** What may follow at one place of the tree. */
export interface Level {
  /** `/` for the program itself, `/droplets/create` for a command. */
  readonly path: string;
  readonly commands: readonly CommandDescription[];
  /** Beyond the global ones; with a fallback, its options too. */
  readonly options: readonly OptionSpec[];
  readonly places: readonly ArgumentSpec[];
}

/** Every level of the tree, the program's own first. */
export function levelsOf(program: CommandDescription): readonly Level[] {
  return below('', program);
}

/** The options taken at every level. */
export const everywhere: readonly OptionSpec[] = [...globalOptions, ...helpOptions];

/** `-o`, `--output` */
export function flagsOf({ name, short }: OptionSpec): readonly string[] {
  return short === undefined ? [`--${name}`] : [`-${short}`, `--${name}`];
}

/** What can be offered for a value, beyond nothing. */
export type Offer =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'file' | 'folder' | 'profile' | 'nothing' };

export function offerOf({ choices, completes }: Pick<OptionSpec, 'choices' | 'completes'>): Offer {
  const words = choices ?? completes;
  return typeof words === 'object' ? { kind: 'words', words } : { kind: words ?? 'nothing' };
}

/** The command that prints the profiles' names, one on each line. */
export function profilesCommand(program: string): string {
  return `${program} auth list --output table --format Profile --no-header --no-input`;
}

function below(path: string, command: CommandDescription): readonly Level[] {
  const fallback = command.children.find(({ name }) => name === command.fallback) ?? command;
  return [
    {
      path: path === '' ? '/' : path,
      commands: command.children,
      options: fallback.options,
      places: fallback.arguments,
    },
    ...command.children.flatMap((child) => below(`${path}/${child.name}`, child)),
  ];
}

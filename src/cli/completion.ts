import { bashScript } from './completion/bash.ts';
import { fishScript } from './completion/fish.ts';
import { levelsOf } from './completion/levels.ts';
import { powershellScript } from './completion/powershell.ts';
import { zshScript } from './completion/zsh.ts';
import type { CommandDescription } from './describe.ts';

export type Shell = (typeof shells)[number];

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

/** The completion script of a shell: all that is known beforehand, and the profiles' names, which it asks the program for. */
export function completionScript(shell: Shell, program: CommandDescription): string {
  const levels = levelsOf(program);
  switch (shell) {
    case 'bash':
      return bashScript(program.name, levels);
    case 'zsh':
      return zshScript(program.name, levels);
    case 'fish':
      return fishScript(program.name, levels);
    case 'powershell':
      return powershellScript(program.name, levels);
    default:
      return shell satisfies never;
  }
}

import { usageError } from '../base/errors.ts';
import type { CommandSpec } from '../cli/command.ts';
import { completionScript, completionShells } from '../cli/completion-scripts.ts';
import type { CommandContext } from '../context.ts';

export const completionCommand: CommandSpec<CommandContext> = {
  description:
    'Prints a script that completes commands, options and names when you press Tab. It suggests names that earlier commands have seen, and sends no request. The scripts for bash, zsh and fish are tested in these shells, the one for PowerShell is not.',
  arguments: [
    {
      name: 'SHELL',
      description: `name of the shell: ${completionShells.join(', ')}`,
      required: true,
      choices: completionShells,
    },
  ],
  examples: [
    {
      text: 'bash: install for every shell',
      command: 'cloudctl completion bash > ~/.local/share/bash-completion/completions/cloudctl',
    },
    { text: 'zsh: install into a folder of $fpath', command: 'cloudctl completion zsh > "$fpath[1]/_cloudctl"' },
    {
      text: 'fish: install for every shell',
      command: 'cloudctl completion fish > ~/.config/fish/completions/cloudctl.fish',
    },
    {
      text: 'PowerShell: add this line to $PROFILE',
      command: 'cloudctl completion powershell | Out-String | Invoke-Expression',
    },
  ],
  run: async (context, args) => {
    const shell = completionShells.find((known) => known === args.positionals[0]);
    if (shell === undefined) throw usageError('missing argument SHELL', `pass one of ${completionShells.join(', ')}`);
    await context.output.text(completionScript(shell, 'cloudctl'));
    return 0;
  },
};

import type { CommandSpec } from '../cli/command.ts';
import { completionScript, shells } from '../cli/completion-scripts.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';

export const completionCommand: CommandSpec<Context> = {
  arguments: [{ name: 'SHELL', description: shells.join(', '), required: true, choices: shells }],
  examples: [
    {
      text: 'bash, for good',
      command: 'cloudctl completion bash > ~/.local/share/bash-completion/completions/cloudctl',
    },
    { text: 'zsh, in a folder of $fpath', command: 'cloudctl completion zsh > "$fpath[1]/_cloudctl"' },
    { text: 'fish', command: 'cloudctl completion fish > ~/.config/fish/completions/cloudctl.fish' },
    { text: 'PowerShell, in $PROFILE', command: 'cloudctl completion powershell | Out-String | Invoke-Expression' },
  ],
  run: async (context, words) => {
    const shell = shells.find((known) => known === words.positionals[0]);
    if (shell === undefined) throw usageError('SHELL is missing', `one of ${shells.join(', ')}`);
    await context.output.text(completionScript(shell, 'cloudctl'));
    return 0;
  },
};

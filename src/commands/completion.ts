import type { CommandSpec, CommandTree } from '../cli/command.ts';
import { completionScript, shells } from '../cli/completion.ts';
import { describeProgram } from '../cli/describe.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';

/** The script of a shell, for the commands of a tree that this one is itself a leaf of. */
export const createCompletionCommand = (commands: CommandTree<Context>): CommandSpec<Context> => ({
  summary: 'print a completion script for a shell',
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
    const description = await describeProgram('cloudctl', 'the command line of the cloud', commands);
    await context.output.text(completionScript(shell, description));
    return 0;
  },
});

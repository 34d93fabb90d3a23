import type { CommandSpec } from '../../cli/command.ts';
import { configPath } from '../../config/config-file.ts';
import type { CommandContext } from '../../context.ts';
import { requireHome } from '../../platform/folders.ts';

export const configShowPath: CommandSpec<CommandContext> = {
  examples: [{ text: 'Edit the configuration', command: '"$EDITOR" "$(cloudctl config path)"' }],
  run: async (context) => {
    const path = configPath(context.host.folders.config);
    requireHome(path);
    if (context.output.format === 'table') await context.output.text(path);
    else await context.output.data(path);
    return 0;
  },
};

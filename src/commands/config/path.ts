import type { CommandSpec } from '../../cli/command.ts';
import { configPath } from '../../config/file.ts';
import type { Context } from '../../context.ts';

export const path: CommandSpec<Context> = {
  summary: 'print where the configuration file is',
  examples: [{ text: 'Edit it', command: '"$EDITOR" "$(cloudctl config path)"' }],
  run: async (context) => {
    await context.output.text(configPath(context.host.folders.config));
    return 0;
  },
};

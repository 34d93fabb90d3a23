import { sanitizeLine } from '../../base/sanitize.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { quietForJson } from '../../cli/command-io.ts';
import { nearestWord } from '../../cli/values.ts';
import { writeCurrent } from '../../config/config-file.ts';
import { requireStored, variableValue } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { warnOfToken } from './environment-token.ts';

export const authSwitch: CommandSpec<CommandContext> = {
  arguments: [
    {
      name: 'PROFILE',
      description: 'name of a profile (see `cloudctl auth list`)',
      required: true,
      completion: { from: 'profile' },
      listedBy: 'cloudctl auth list',
    },
  ],
  examples: [{ text: 'Use the sandbox', command: 'cloudctl auth switch sandbox' }],
  run: warnOfToken(async (context, args) => {
    const [name = ''] = args.positionals;
    await context.changeConfig((config) => {
      requireStored(config, name, { command: 'auth switch', nearest: nearestWord });
      writeCurrent(context.host.folders.config, config, name);
    });
    await context.output.note(`The current profile is now ${name}.`);
    const variable = variableValue(context.host.env.CLOUDCTL_PROFILE);
    if (variable !== undefined && variable !== name)
      await quietForJson(context).output.warn(
        `CLOUDCTL_PROFILE is set: commands without \`--profile\` still use profile ${sanitizeLine(variable)}; run \`unset CLOUDCTL_PROFILE\``,
      );
    return 0;
  }),
};

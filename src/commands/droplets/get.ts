import { usageError } from '../../base/errors.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { pauseOf } from '../../cli/command-io.ts';
import { collectNames } from '../../config/name-collector.ts';
import type { CommandContext } from '../../context.ts';
import { findDroplet } from '../../droplets/index.ts';
import { dropletFields, dropletView, linkedView } from './list.ts';

export const dropletsGet: CommandSpec<CommandContext> = {
  description:
    'Shows one droplet. A number is the id of the droplet, or its name if no droplet has this id. Several droplets with the name are an error that lists their ids.',
  arguments: [
    {
      name: 'DROPLET',
      description: 'Id or name of the droplet',
      required: true,
      completion: { from: 'droplet' },
      listedBy: 'cloudctl droplets list',
    },
  ],
  examples: [
    {
      text: 'Print the public address of a droplet',
      command: 'cloudctl droplets get web-01 --format PublicIPv4 --no-header',
    },
    { text: 'Show a droplet as JSON', command: 'cloudctl droplets get 400000013 -o json' },
  ],
  columns: dropletView.columns,
  fields: dropletFields,
  run: async (context, args) => {
    const [text = ''] = args.positionals;
    if (text.trim() === '') throw usageError('DROPLET is empty', 'list the droplets: `cloudctl droplets list`');
    context.output.checkColumns(dropletView);
    const settings = context.settings();
    const api = await context.api(settings);
    const found = findDroplet({ api, pause: pauseOf(context) }, text, 'droplets get');
    const { raw } = await found.finally(() => context.progress.stop());
    const names = collectNames(context.host.folders.state, settings, 'droplets');
    names.add([raw]);
    names.save(false);
    await context.output.object(raw, linkedView(context));
    return 0;
  },
};

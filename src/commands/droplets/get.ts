import { findDroplets } from '../../api/droplets.ts';
import { CliError, usageError } from '../../base/errors.ts';
import { isId } from '../../base/json.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';
import { shortenInputForError } from '../../cli/values.ts';
import type { CommandContext } from '../../context.ts';
import { createRateLimitDelayWithProgress } from '../rate-limit-pause.ts';
import { createCompletionNameCollector } from '../remember-names.ts';
import { createLinkedDropletListView, dropletFields, dropletListView } from './list.ts';
import { requireOneDroplet } from './require-one-droplet.ts';

export const dropletsGetCommand: CommandSpec<CommandContext> = {
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
  columns: dropletListView.columns,
  fields: dropletFields,
  run: async (context, args) => {
    const [text = ''] = args.positionals;
    if (text.trim() === '') throw usageError('DROPLET is empty', 'list the droplets: `cloudctl droplets list`');
    context.output.checkColumns(dropletListView);
    const settings = context.settings();
    const api = await context.api(settings);
    const reader = { api, pause: createRateLimitDelayWithProgress(context) };
    const found = await findDroplets([text], reader).finally(() => context.progress.stop());
    const matches = found.get(text);
    const droplet = matches === undefined ? undefined : requireOneDroplet(text, matches, 'droplets get');
    if (droplet === undefined)
      throw new CliError(
        'not_found',
        isId(text)
          ? `no droplet has the id or name ${text}`
          : `no droplet has the name "${shortenInputForError(text)}"`,
        { hint: `list the droplets: \`cloudctl droplets list${/[*?[]/.test(text) ? ` ${quoteShellArg(text)}` : ''}\`` },
      );
    const names = createCompletionNameCollector(context, settings, 'droplets');
    names.add([droplet.raw]);
    names.save(false);
    await context.output.object(droplet.raw, createLinkedDropletListView(context));
    return 0;
  },
};

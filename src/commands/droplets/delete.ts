import type { CommandSpec } from '../../cli/command.ts';
import { actorOf } from '../../context/actor.ts';
import type { CommandContext } from '../../context.ts';
import { deleteSelected, limitOptions } from '../../droplets/index.ts';

export const dropletsDelete: CommandSpec<CommandContext> = {
  description:
    'Deletes droplets by id, name, shell pattern or tag. It first lists the droplets, and deletes exactly these after a confirmation: `--yes` confirms in a script. An id or a name that no droplet has is an error, and then nothing is deleted. A pattern or a tag without droplets is not an error.\n\nThe output has one row for every droplet: deleted, failed or unknown. A request without a clear response is repeated, and then the droplet is looked up.',
  arguments: [
    {
      name: 'DROPLET',
      description: 'Id, name, or shell pattern for names, for example "web-*"',
      variadic: true,
      completion: { from: 'droplet' },
    },
  ],
  options: [
    { name: 'tag', valueName: 'TAG', description: 'Delete the droplets with this tag' },
    {
      name: 'if-missing',
      valueName: 'ACTION',
      choices: ['fail', 'skip'],
      description: 'When no droplet has an id or a name: fail, or skip it (default: fail)',
    },
    { name: 'dry-run', description: 'List the droplets that would be deleted, without deleting them' },
    ...limitOptions,
  ],
  examples: [
    { text: 'Delete two droplets', command: 'cloudctl droplets delete web-01 400000013' },
    { text: 'List the droplets that a pattern would delete', command: "cloudctl droplets delete 'ci-*' --dry-run" },
    { text: 'Delete the droplets of a test run in a script', command: 'cloudctl droplets delete --tag ci-1234 --yes' },
  ],
  fields: ['id', 'name', 'region', 'created_at', 'status', 'already_gone', 'error'],
  run: (context, args) => deleteSelected(context, actorOf(context), args),
};

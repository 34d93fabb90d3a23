import type { CommandSpec } from '../../../cli/command.ts';
import { actorOf } from '../../../context/actor.ts';
import type { CommandContext } from '../../../context.ts';
import { deleteBatch, limitOptions } from '../../../droplets/index.ts';
import { batchArgument } from './show.ts';

export const batchesDelete: CommandSpec<CommandContext> = {
  description:
    'Deletes exactly the droplets that the batch created, by the ids in its ledger, after showing them and a confirmation: `--yes` confirms in a script. If one of them has another name than in the ledger, nothing is deleted. Droplets that were skipped stay. Names with an unknown result are left, because nothing proves that their droplets belong to the batch.\n\nThe ledger is kept and records what was deleted. `cloudctl droplets create --resume LEDGER` then creates the deleted droplets again.',
  arguments: [batchArgument],
  options: [
    { name: 'dry-run', description: 'List the droplets that would be deleted, without deleting them' },
    ...limitOptions,
  ],
  examples: [
    { text: 'Delete the droplets of a batch', command: 'cloudctl droplets batches delete 3f9c2a61d0b7' },
    {
      text: 'List the droplets that would be deleted',
      command: 'cloudctl droplets batches delete 3f9c2a61d0b7 --dry-run',
    },
  ],
  fields: ['id', 'name', 'region', 'created_at', 'status', 'already_gone', 'error'],
  run: (context, args) => deleteBatch(context, actorOf(context), args),
};

import type { CommandSpec } from '../../../cli/command.ts';
import { actorOf } from '../../../context/actor.ts';
import type { CommandContext } from '../../../context.ts';
import { showBatch } from '../../../droplets/index.ts';

export const batchArgument = {
  name: 'BATCH',
  description: 'Id of the batch, or its ledger file',
  required: true,
  completion: 'file',
} as const;

export const batchesShow: CommandSpec<CommandContext> = {
  description:
    'Prints one row for every name of the batch: the result in the ledger (created, skipped, failed, unknown, missing or deleted), and the address and state of the droplet on the server. State `gone` means that the droplet does not exist any more. When the server cannot be reached, the rows contain only data of the ledger, and a message says so.',
  arguments: [batchArgument],
  options: [{ name: 'offline', description: 'Print only data of the ledger, without a request' }],
  examples: [
    { text: 'Show a batch', command: 'cloudctl droplets batches show 3f9c2a61d0b7' },
    {
      text: 'Print the droplets of a batch that do not exist any more',
      command: 'cloudctl droplets batches show 3f9c2a61d0b7 -o json --query "[?state==\'gone\']"',
    },
  ],
  fields: ['name', 'status', 'id', 'public_ipv4', 'state', 'difference', 'error'],
  run: (context, args) => showBatch(context, actorOf(context), args),
};

import type { CommandSpec } from '../../../cli/command.ts';
import type { CommandContext } from '../../../context.ts';
import { listBatches, storedView } from '../../../droplets/index.ts';

export const batchesList: CommandSpec<CommandContext> = {
  description:
    'Lists the ledgers in the state folder, newest first, also those of runs that were killed. The command reads only files and sends no request. A batch is running, finished, unfinished (resume it with `cloudctl droplets create --resume LEDGER`), deleted or damaged.',
  examples: [
    { text: 'List all batches', command: 'cloudctl droplets batches list' },
    {
      text: 'Print the ledgers that can be resumed',
      command: 'cloudctl droplets batches list -o json --query "[?state==\'unfinished\'].path"',
    },
  ],
  columns: storedView.columns,
  fields: ['id', 'path', 'started', 'profile', 'names', 'created', 'skipped', 'unknown', 'failed', 'missing', 'state'],
  run: async ({ output, host }) => {
    output.checkColumns(storedView);
    await output.list(listBatches(host.folders.state), storedView);
    return 0;
  },
};

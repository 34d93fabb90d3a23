import type { ListView } from '../../../cli/columns.ts';
import type { CommandSpec } from '../../../cli/command.ts';
import type { CommandContext } from '../../../context.ts';
import { listBatches, type StoredBatch } from '../../../droplets/index.ts';

const view: ListView<StoredBatch> = {
  columns: [
    { name: 'ID', value: (row) => row.id },
    { name: 'Started', value: (row) => row.started, kind: 'time' },
    { name: 'Profile', value: (row) => row.profile, priority: 3 },
    { name: 'State', value: (row) => row.state, kind: 'state' },
    { name: 'Names', value: (row) => row.names },
    { name: 'Created', value: (row) => row.created },
    { name: 'Failed', value: (row) => row.failed },
    { name: 'Unknown', value: (row) => row.unknown, priority: 1 },
    { name: 'Missing', value: (row) => row.missing, priority: 2 },
    { name: 'Skipped', value: (row) => row.skipped, extra: true },
    { name: 'Ledger', value: (row) => row.path, priority: 4 },
  ],
};

export const batchesListCommand: CommandSpec<CommandContext> = {
  description:
    'Lists the ledgers in the state folder, newest first, also those of runs that were killed. The command reads only files and sends no request. A batch is running, finished, unfinished (resume it with `cloudctl droplets create --resume LEDGER`), deleted or damaged.',
  examples: [
    { text: 'List all batches', command: 'cloudctl droplets batches list' },
    {
      text: 'Print the ledgers that can be resumed',
      command: 'cloudctl droplets batches list -o json --query "[?state==\'unfinished\'].path"',
    },
  ],
  columns: view.columns,
  run: async ({ output, host }) => {
    output.checkColumns(view);
    await output.list(listBatches(host.folders.state), view);
    return 0;
  },
};

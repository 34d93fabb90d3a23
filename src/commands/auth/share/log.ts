import { usageError } from '../../../base/errors.ts';
import type { ListView } from '../../../cli/columns.ts';
import type { CommandSpec } from '../../../cli/command.ts';
import type { CommandContext } from '../../../context.ts';
import { withOpenSharedStore } from './use-share.ts';

interface ShareLogRow {
  readonly time: string;
  readonly event: string;
  readonly machine: string;
  readonly epoch: number;
  readonly generation: number;
}

const view: ListView<ShareLogRow> = {
  columns: [
    { name: 'Time', value: (row) => row.time, kind: 'time' },
    { name: 'Event', value: (row) => row.event },
    { name: 'Machine', value: (row) => row.machine },
    { name: 'Epoch', value: (row) => row.epoch, priority: 1 },
    { name: 'Generation', value: (row) => row.generation },
  ],
};

export const shareLogCommand: CommandSpec<CommandContext> = {
  description:
    'Prints who used the shared session when, newest first: login, claim (a machine announced a refresh), refresh, refused (the server refused the refresh token), publish (a machine stored a record that the store had lost), rotate and logout.',
  options: [{ name: 'limit', valueName: 'N', description: 'maximum number of entries, 1 to 10000 (default: 50)' }],
  examples: [{ text: 'Print the last refreshes', command: 'cloudctl auth share log --limit 20' }],
  columns: view.columns,
  run: async (context, args) => {
    const text = args.value('limit') ?? '50';
    const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0;
    if (limit < 1 || limit > 10_000)
      throw usageError('--limit is not a number from 1 to 10000', 'give a number: `--limit 50`');
    context.output.checkColumns(view);
    const entries = await withOpenSharedStore(context, ({ store }) => store.readLog(limit));
    const rows = entries.map(({ atMs, event, by, epoch, gen }) => ({
      time: new Date(atMs).toISOString(),
      event,
      machine: by,
      epoch,
      generation: gen,
    }));
    await context.output.list(rows, view);
    return 0;
  },
};

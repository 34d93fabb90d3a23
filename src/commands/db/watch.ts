import type { CommandSpec } from '../../cli/command.ts';
import { actorOf } from '../../context/actor.ts';
import type { CommandContext } from '../../context.ts';
import { readSource, sourceOptionSpecs } from '../../db/source/index.ts';
import {
  readWatchOptions,
  settleInterruptedOf,
  statusReader,
  watchMigration,
  watchOptions,
} from '../../db/watch/index.ts';

export const dbWatch: CommandSpec<CommandContext> = {
  description:
    'Shows the progress of an online migration, the estimated time left, when the service stops it, and every rule of the service that is broken, with its fix. It reads the source, in read-only transactions, and the status at the service when `db migrate` started the migration on this machine. The state of the target is derived from replication slots, their consumers, running copies and table scans. A terminal shows a status screen; other outputs get a line when something changes. `-o ndjson` prints one object per poll; other formats print the last poll at the end. Ctrl-C ends the watch, not the migration.\n\n`identified by` says why a slot or replica counts as the one of the migration. proven: --slot names it, or its name holds the id of the migration. inferred: it is the only new one since `db migrate`, and the service shows that migration. assumed: anything else. With --until-idle, exit code 0 needs proven or inferred; assumed is exit code 5, with the candidates.',
  options: [
    ...sourceOptionSpecs,
    ...watchOptions,
    { name: 'show-queries', description: 'Print every statement that is sent to the source on stderr' },
  ],
  examples: [
    {
      text: 'Watch a migration',
      command: 'PGPASSWORD=… cloudctl db watch --source postgres://mover@db.example.com/shop',
    },
    {
      text: 'Wait in a script until the cut-over can start',
      command: 'cloudctl db watch --source postgres://mover@db.example.com/shop --until-idle && ./cut-over.sh',
    },
    {
      text: 'Print only violations',
      command: "cloudctl db watch --source postgres://mover@db.example.com/shop -o ndjson | jq -c '.violations[]'",
    },
  ],
  fields: [
    'at',
    'phase',
    'percent',
    'bytes_done',
    'bytes_total',
    'lag_bytes',
    'eta_seconds',
    'deadline',
    'deadline_from',
    'server_status',
    'identified_by',
    'databases',
    'cause',
    'violations',
    'notes',
  ],
  run: async (context, args) => {
    const source = await readSource(context, args);
    const actor = actorOf(context);
    await settleInterruptedOf(context, actor, source);
    return watchMigration(context, { ...readWatchOptions(args, source, actor), fetchStatus: statusReader(actor) });
  },
};

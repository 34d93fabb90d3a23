import type { CommandSpec } from '../../cli/command.ts';
import { requireDuration } from '../../cli/values.ts';
import { actorOf } from '../../context/actor.ts';
import type { CommandContext } from '../../context.ts';
import { requireStoppable, stopMigration } from '../../db/cutover/index.ts';
import { clusterArgument, namesSource, readCluster, readSource, sourceOptionSpecs } from '../../db/source/index.ts';
import { migrationFields, migrationView } from '../../db/watch/index.ts';

export const dbStop: CommandSpec<CommandContext> = {
  description:
    'Stops the migration into a cluster, after a confirmation: `--yes` confirms in a script. Then waits until every database has ended: the service copies sequences and materialized views last. The data that was copied stays on the target, and nothing that is written to the source later arrives there. A stopped migration cannot be continued, only started again into an empty target. If every database has already ended, nothing is sent and the exit code is 0. With a source (--source or CLOUDCTL_SOURCE), reads whether the migration left a replication slot, a publication or a Redis replica on the source: exit code 1 if it did; without it, prints the query for that. A service that does not stop migrations through its API is an error; the migration can then be stopped in the control panel.',
  arguments: [clusterArgument],
  options: [
    {
      name: 'wait-timeout',
      valueName: 'DURATION',
      description: 'Time limit for the end of the migration (default: 10m)',
    },
    ...sourceOptionSpecs,
  ],
  examples: [
    { text: 'Stop the migration into a cluster', command: 'cloudctl db stop 3b643ad7-65aa-4066-b45b-1c64b6db600a' },
    {
      text: 'Stop a migration in a script, and check that nothing is left on the source',
      command:
        'cloudctl db stop 3b643ad7-65aa-4066-b45b-1c64b6db600a --yes --source postgres://mover@db.example.com/shop',
    },
  ],
  fields: migrationFields,
  run: async (context, args) => {
    const cluster = readCluster(args);
    context.output.checkColumns(migrationView);
    const limit = requireDuration(args.value('wait-timeout') ?? '10m', '--wait-timeout', 1000);
    const actor = actorOf(context);
    requireStoppable(context, actor, cluster);
    const source = namesSource(context, args) ? await readSource(context, args) : undefined;
    await stopMigration(context, actor, { cluster, limit, source, ignoreDbs: args.values('ignore-dbs') });
    return 0;
  },
};

import { usageError } from '../../base/errors.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { requireDuration } from '../../cli/values.ts';
import { actorOf } from '../../context/actor.ts';
import type { CommandContext } from '../../context.ts';
import { clusterArgument, readCluster } from '../../db/source/index.ts';
import {
  followMigration,
  migrationFields,
  migrationView,
  printMigration,
  requireMigration,
  settleInterrupted,
} from '../../db/watch/index.ts';

export const dbStatus: CommandSpec<CommandContext> = {
  description:
    'Shows the latest migration into a cluster, as the service reports it. The command needs no access to the source; `db watch` shows the progress in detail, from the source. With --watch, a line follows whenever the service reports another state, until the migration has ended: exit code 1 when it ended with an error. `-o ndjson` prints one object for each state.\n\nWithout --watch the exit code is 0 when the status was read, whatever it says: a database that failed has the phase error in `-o json`. `db watch --until-idle` ends with exit code 1 when a database has failed.',
  arguments: [clusterArgument],
  options: [
    { name: 'watch', description: 'Follow the migration until it has ended' },
    { name: 'interval', valueName: 'DURATION', description: 'With --watch: polling interval (default: 5s)' },
  ],
  examples: [
    { text: 'Show the migration into a cluster', command: 'cloudctl db status 3b643ad7-65aa-4066-b45b-1c64b6db600a' },
    {
      text: 'Find out in a script whether a database has failed',
      command:
        'cloudctl db status 3b643ad7-65aa-4066-b45b-1c64b6db600a -o json | jq -e \'all(.databases[]?; .phase != "error" and .error == null)\'',
    },
    {
      text: 'Follow the migration until it has ended',
      command: 'cloudctl db status 3b643ad7-65aa-4066-b45b-1c64b6db600a --watch',
    },
  ],
  fields: migrationFields,
  run: async (context, args) => {
    const cluster = readCluster(args);
    const interval = requireDuration(args.value('interval') ?? '5s', '--interval', 1000);
    if (args.has('interval') && !args.has('watch'))
      throw usageError('cannot use --interval without --watch', 'add `--watch`');
    context.output.checkColumns(migrationView);
    const actor = actorOf(context);
    await settleInterrupted(context, actor, cluster);
    const migration = await requireMigration(await actor.api(), cluster);
    if (args.has('watch')) return followMigration(context, actor, cluster, { first: migration, interval });
    await printMigration(context, actor, cluster, migration);
    return 0;
  },
};

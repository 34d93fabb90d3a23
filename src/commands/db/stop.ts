import type { RefusedRequestHints } from '../../api/api-response.ts';
import { describeOnlineMigration, fetchOnlineMigration, isEndedMigrationStatus } from '../../api/online-migration.ts';
import { stopOnlineMigration } from '../../api/stop-online-migration.ts';
import { refusedHints } from '../../auth/session/index.ts';
import { CliError, usageError } from '../../base/errors.ts';
import { maxSanitizedTextLength } from '../../base/sanitize.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { describeActor, readStoredAccountAndServerOrigins } from '../../context/current-identity.ts';
import type { CommandContext } from '../../context.ts';
import { formatProfileAndServerOptions } from '../profile-options.ts';
import { clusterArgument, readClusterUuid } from './cluster-argument.ts';
import { describeNextMigrationStep } from './describe-next-migration-step.ts';
import { resolveInterruptedMigrationRequest } from './interrupted-start.ts';
import { migrationFields, migrationListView, noMigrationError } from './migration-view.ts';

export const dbStopCommand: CommandSpec<CommandContext> = {
  description:
    'Stops the migration into a cluster, after a confirmation: `--yes` confirms in a script. The data that was copied stays on the target, and nothing that is written to the source later arrives there. A stopped migration cannot be continued, only started again into an empty target. If the migration has already ended, nothing is sent and the exit code is 0. A service that does not stop migrations through its API is an error; the migration can then be stopped in the control panel.',
  arguments: [clusterArgument],
  examples: [
    { text: 'Stop the migration into a cluster', command: 'cloudctl db stop 3b643ad7-65aa-4066-b45b-1c64b6db600a' },
    { text: 'Stop a migration in a script', command: 'cloudctl db stop 3b643ad7-65aa-4066-b45b-1c64b6db600a --yes' },
  ],
  fields: migrationFields,
  run: async (context, args) => {
    const cluster = readClusterUuid(args);
    const { host, output, prompts, globals } = context;
    output.checkColumns(migrationListView);
    const settings = context.settings();
    const profile = formatProfileAndServerOptions(globals, settings.profile);
    if (!prompts.interactive && !globals.has('yes')) {
      throw usageError(
        'the stop is not confirmed, and there is no terminal for a prompt',
        `confirm with \`${['cloudctl db stop', cluster, '--yes', ...profile].join(' ')}\``,
        'nothing was sent to the service',
      );
    }
    const api = await context.api(settings);
    const identity = await readStoredAccountAndServerOrigins(context, settings);
    await resolveInterruptedMigrationRequest(context, api, cluster);
    const migration = await fetchOnlineMigration(api, cluster);
    if (migration === undefined) throw noMigrationError(cluster);
    if (isEndedMigrationStatus(migration.status)) {
      await output.note('The migration has already ended. Nothing was sent.');
      await output.object(migration.raw, migrationListView);
      await output.note(describeNextMigrationStep(context, cluster, migration.status), maxSanitizedTextLength);
      return 0;
    }
    const actor = await describeActor(context, settings, identity);
    const message = `Stop ${describeOnlineMigration(migration)}, into cluster ${cluster} as ${actor}? A stopped migration cannot be continued.`;
    if (!(await prompts.confirm({ message })))
      throw new CliError('cancelled', 'the migration was not stopped', {
        hint: 'run the command again to stop the migration',
      });
    const hints: RefusedRequestHints = refusedHints(settings, host.folders.config);
    const stopped = await stopOnlineMigration(api, cluster, migration, hints);
    await output.object(stopped.raw, migrationListView);
    if (isEndedMigrationStatus(stopped.status))
      await output.note(
        [
          'The migration is stopped. The copied data stays on the target. Restore the firewall rules and trusted sources that were opened for it.',
          ...describeNextMigrationStep(context, cluster, stopped.status),
        ],
        maxSanitizedTextLength,
      );
    else
      await output.note(
        `The service accepted the stop, and still shows the status ${stopped.status}. Next: cloudctl db status ${cluster} --watch`,
      );
    return 0;
  },
};

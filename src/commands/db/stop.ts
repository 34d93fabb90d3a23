import type { RefusedRequestHints } from '../../api/api-response.ts';
import type { ApiClient } from '../../api/client.ts';
import {
  describeOnlineMigration,
  type FetchedOnlineMigration,
  fetchOnlineMigration,
  isMigrationActive,
  isMigrationStopping,
  listActiveDatabases,
} from '../../api/online-migration.ts';
import {
  hasMigrationEnded,
  needsStopRequest,
  stopOnlineMigration,
  waitForMigrationEnd,
} from '../../api/stop-online-migration.ts';
import { refusedHints } from '../../auth/session/index.ts';
import { CliError, usageError } from '../../base/errors.ts';
import { maxSanitizedTextLength } from '../../base/sanitize.ts';
import { formatDuration } from '../../base/text.ts';
import type { CommandSpec, ParsedArgs } from '../../cli/command.ts';
import { quietForJson } from '../../cli/command-io.ts';
import { parseDurationToMillisecondsOrThrow } from '../../cli/values.ts';
import { describeActor, readStoredAccountAndServerOrigins } from '../../context/current-identity.ts';
import type { CommandContext } from '../../context.ts';
import {
  describeCleanSource,
  describeRemainsQuery,
  findSourceRemains,
  type MigrationMarks,
} from '../../db/cutover/index.ts';
import { type DbSource, namesSource, readSource, sourceOptionSpecs } from '../../db/source/index.ts';
import { listStarted } from '../../db/watch/record.ts';
import { runUntilSignal } from '../../platform/waiting.ts';
import { formatProfileAndServerOptions } from '../profile-options.ts';
import {
  clusterArgument,
  describeNextMigrationStep,
  formatMigrationLeftovers,
  migrationFields,
  migrationListView,
  noMigrationError,
  readClusterUuid,
  resolveInterruptedMigrationRequest,
} from './migration.ts';

export const dbStopCommand: CommandSpec<CommandContext> = {
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
    const cluster = readClusterUuid(args);
    const { host, output, prompts, globals } = context;
    output.checkColumns(migrationListView);
    const limit = parseDurationToMillisecondsOrThrow(args.value('wait-timeout') ?? '10m', '--wait-timeout', 1000);
    const settings = context.settings();
    const profile = formatProfileAndServerOptions(globals, settings.profile);
    if (!prompts.interactive && !globals.has('yes')) {
      throw usageError(
        'the stop is not confirmed, and there is no terminal for a prompt',
        `confirm with \`${['cloudctl db stop', cluster, '--yes', ...profile].join(' ')}\``,
        'nothing was sent to the service',
      );
    }
    const source = namesSource(context, args) ? await readSource(context, args) : undefined;
    const api = await context.api(settings);
    const identity = await readStoredAccountAndServerOrigins(context, settings);
    await resolveInterruptedMigrationRequest(context, api, cluster);
    const migration = await fetchOnlineMigration(api, cluster);
    if (migration === undefined) throw noMigrationError(cluster);
    let shown = migration;
    if (needsStopRequest(migration)) {
      const actor = await describeActor(context, settings, identity);
      const message = `Stop ${describeOnlineMigration(migration)}, into cluster ${cluster} as ${actor}? A stopped migration cannot be continued.`;
      if (!(await prompts.confirm({ message })))
        throw new CliError('cancelled', 'the migration was not stopped', {
          hint: 'run the command again to stop the migration',
        });
      const hints: RefusedRequestHints = refusedHints(settings, host.folders.config);
      shown = await stopOnlineMigration(api, cluster, migration, hints);
      shown = await waitForEnd(context, api, { cluster, stopping: shown, limit, profile });
    } else {
      await output.note('The migration has already ended. Nothing was sent.');
      if (isMigrationActive(migration))
        shown = await waitForEnd(context, api, { cluster, stopping: migration, limit, profile });
    }
    await output.object(shown.raw, migrationListView);
    if (!hasMigrationEnded(shown)) {
      const status = ['cloudctl db status', cluster, '--watch', ...profile].join(' ');
      await output.note(
        `The service accepted the stop, and still shows the status ${shown.status}. Next: ${status}`,
        maxSanitizedTextLength,
      );
    } else if (needsStopRequest(migration))
      await output.note(
        'The migration is stopped. The copied data stays on the target. Restore the firewall rules and trusted sources that were opened for it.',
      );
    if (source !== undefined || hasMigrationEnded(shown))
      await reportRemains(context, args, { cluster, migration: shown, source });
    if (hasMigrationEnded(shown))
      await output.note(describeNextMigrationStep(context, cluster, shown), maxSanitizedTextLength);
    return 0;
  },
};

interface StoppingMigration {
  readonly cluster: string;
  readonly stopping: FetchedOnlineMigration;
  readonly limit: number;
  readonly profile: readonly string[];
}

/** Waits until every database has ended; throws a CliError at the time limit. */
async function waitForEnd(
  context: CommandContext,
  api: ApiClient,
  { cluster, stopping, limit, profile }: StoppingMigration,
): Promise<FetchedOnlineMigration> {
  const { host } = context;
  const { progress } = quietForJson(context);
  const again = ['cloudctl db stop', cluster, '--yes', ...profile].join(' ');
  const hint = `wait for the end with \`${again}\`: it sends the stop again, which changes nothing`;
  const onPoll = (migration: FetchedOnlineMigration): void => {
    const active = listActiveDatabases(migration);
    const names = active.length === 0 ? '' : `: ${active.slice(0, 5).join(', ')}`;
    if (names !== '' || isMigrationStopping(migration)) void progress.show(`stopping${names}`);
  };
  const message = 'the wait was interrupted; the stop was sent, and the migration is stopping';
  let last: FetchedOnlineMigration;
  try {
    last = await runUntilSignal(host.signals, message, (signal) =>
      waitForMigrationEnd(api, cluster, stopping, { clock: host.clock, signal, limit, onPoll }),
    );
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { code, status, requestId, exitCode } = error;
    if (code === 'cancelled') throw new CliError(code, message, { hint, exitCode });
    throw new CliError(code, 'the stop was sent, but it is not known whether the migration has ended', {
      ...{ detail: error.message, hint, status, requestId, exitCode },
      cause: error,
    });
  } finally {
    await progress.stop();
  }
  const active = listActiveDatabases(last);
  if (active.length === 0 && !isMigrationStopping(last)) return last;
  throw new CliError('timeout', `the migration is still stopping after ${formatDuration(limit)}`, {
    detail:
      active.length === 0
        ? `status ${last.status}`
        : `not ended: ${active.slice(0, 5).join(', ')}${active.length > 5 ? ` and ${active.length - 5} more` : ''}`,
    hint,
  });
}

/** Says whether the migration left something on the source, or how to find out. */
async function reportRemains(
  context: CommandContext,
  args: ParsedArgs,
  stopped: {
    readonly cluster: string;
    readonly migration: FetchedOnlineMigration;
    readonly source: DbSource | undefined;
  },
): Promise<void> {
  const { host, output } = context;
  const { cluster, migration, source } = stopped;
  const started = listStarted(host.folders.state).find(
    (one) => one.started.cluster === cluster && (migration.id === undefined || one.started.id === migration.id),
  );
  const marks: MigrationMarks = { id: migration.id, record: started };
  const leftovers = formatMigrationLeftovers(migration.raw);
  if (source === undefined && leftovers.length > 0)
    throw new CliError('api_error', 'the migration has ended, and the service left objects of it', {
      detail: leftovers.join('; '),
      hint: 'remove the objects, then run the same command again with `--source`, which checks that nothing is left',
    });
  await output.note(leftovers, maxSanitizedTextLength);
  if (source === undefined) {
    await output.note(describeRemainsQuery(marks), maxSanitizedTextLength);
    return;
  }
  const { own, statements, doubtful } = await runUntilSignal(
    host.signals,
    'the check of the source was interrupted; the migration was stopped',
    (signal) => findSourceRemains(source, marks, { clock: host.clock, signal, ignoreDbs: args.values('ignore-dbs') }),
  );
  if (own.length > 0)
    throw new CliError('api_error', 'the migration is not removed from the source', {
      detail: own.join('; '),
      hint:
        statements.length === 0
          ? 'wait a minute, and run the same command again'
          : `wait a minute, and run the same command again; if they are still there, run on the source: ${statements.join(' ')}`,
    });
  if (doubtful.length > 0)
    await output.note(
      `Not proven that nothing is left on the source: ${doubtful.join('; ')}. Drop what nothing else uses.`,
      maxSanitizedTextLength,
    );
  else await output.note(describeCleanSource(source.engine));
}

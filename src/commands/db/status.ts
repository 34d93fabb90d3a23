import type { ApiClient } from '../../api/client.ts';
import {
  describeOnlineMigration,
  type FetchedOnlineMigration,
  fetchOnlineMigration,
  isMigrationActive,
  listMigrationWarnings,
} from '../../api/online-migration.ts';
import { CliError, type ExitCode, usageError } from '../../base/errors.ts';
import type { JsonRecord } from '../../base/json.ts';
import { maxSanitizedTextLength } from '../../base/sanitize.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { parseDurationToMillisecondsOrThrow } from '../../cli/values.ts';
import type { CommandContext } from '../../context.ts';
import { runUntilSignal } from '../../platform/waiting.ts';
import {
  clusterArgument,
  describeNextMigrationStep,
  formatMigrationDatabaseLines,
  formatMigrationLeftovers,
  formatMigrationStatusLines,
  helpWithMigration,
  migrationFields,
  migrationListView,
  noMigrationError,
  readClusterUuid,
  resolveInterruptedMigrationRequest,
} from './migration.ts';

export const dbStatusCommand: CommandSpec<CommandContext> = {
  description:
    'Shows the latest migration into a cluster, as the service reports it. The command needs no access to the source; `db watch` shows the progress in detail, from the source. With --watch, a line follows whenever the service reports another state, until the migration has ended: exit code 1 when it ended with an error. `-o ndjson` prints one object for each state.',
  arguments: [clusterArgument],
  options: [
    { name: 'watch', description: 'Follow the migration until it has ended' },
    { name: 'interval', valueName: 'DURATION', description: 'With --watch: polling interval (default: 5s)' },
  ],
  examples: [
    { text: 'Show the migration into a cluster', command: 'cloudctl db status 3b643ad7-65aa-4066-b45b-1c64b6db600a' },
    {
      text: 'Follow the migration until it has ended',
      command: 'cloudctl db status 3b643ad7-65aa-4066-b45b-1c64b6db600a --watch',
    },
  ],
  fields: migrationFields,
  run: async (context, args) => {
    const cluster = readClusterUuid(args);
    const interval = parseDurationToMillisecondsOrThrow(args.value('interval') ?? '5s', '--interval', 1000);
    if (args.has('interval') && !args.has('watch'))
      throw usageError('cannot use --interval without --watch', 'add `--watch`');
    const { output } = context;
    output.checkColumns(migrationListView);
    const api = await context.api(context.settings());
    await resolveInterruptedMigrationRequest(context, api, cluster);
    const migration = await requireMigration(api, cluster);
    if (!args.has('watch')) {
      await output.object(migration.raw, migrationListView);
      await output.note(formatMigrationDatabaseLines(migration.raw));
      await output.note(formatMigrationLeftovers(migration.raw), maxSanitizedTextLength);
      for (const text of listMigrationWarnings(migration)) await output.warn(text);
      if (output.format === 'table')
        await output.note(describeNextMigrationStep(context, cluster, migration), maxSanitizedTextLength);
      return 0;
    }
    return follow(context, api, cluster, { first: migration, interval });
  },
};

/** The number of consecutive polls that may fail before the watch ends. */
const maxFailures = 5;

/** Prints each state of the migration until it has ended, and its final state. */
async function follow(
  context: CommandContext,
  api: ApiClient,
  cluster: string,
  { first, interval }: { readonly first: FetchedOnlineMigration; readonly interval: number },
): Promise<ExitCode> {
  const { host, output } = context;
  const message = 'the watch was interrupted; the migration continues';
  let last = first;
  const poll = async function* (signal: AbortSignal): AsyncGenerator<JsonRecord> {
    let shown = '';
    const warned = new Set<string>();
    for (let failures = 0; ; ) {
      const lines = formatMigrationStatusLines(last.raw);
      if (output.format !== 'ndjson' && shown !== lines.join()) await output.note(lines);
      shown = lines.join();
      for (const text of listMigrationWarnings(last)) {
        if (!warned.has(text)) await output.warn(text);
        warned.add(text);
      }
      yield last.raw;
      if (!isMigrationActive(last)) return;
      await host.clock.sleep(interval, signal);
      try {
        const next = await requireMigration(api, cluster);
        if (next.id !== last.id) throw replacedError(cluster, last, next);
        last = next;
        failures = 0;
      } catch (error) {
        failures += 1;
        const isFinal = !(error instanceof CliError) || error.exitCode === 4 || error.code === 'not_found';
        if (isFinal || failures === maxFailures) throw error;
      }
    }
  };
  await runUntilSignal(host.signals, message, async (signal) => {
    if (output.format === 'ndjson') return output.list(poll(signal), migrationListView);
    for await (const _state of poll(signal)) signal.throwIfAborted();
    return output.object(last.raw, migrationListView);
  });
  const help = helpWithMigration(context, cluster, last);
  if (help === undefined) {
    const next = describeNextMigrationStep(context, cluster, last);
    if (output.format === 'table') await output.note(next, maxSanitizedTextLength);
    return 0;
  }
  throw new CliError('api_error', `the migration into cluster ${cluster} ended with an error`, {
    detail: help.reasons,
    hint: help.next.slice(0, maxSanitizedTextLength),
  });
}

function replacedError(cluster: string, last: FetchedOnlineMigration, next: FetchedOnlineMigration): CliError {
  return new CliError('not_found', `the service shows another migration into cluster ${cluster}`, {
    detail: `${describeOnlineMigration(last)}; then ${describeOnlineMigration(next)}`,
    hint: `follow the other migration with \`cloudctl db status ${cluster} --watch\``,
  });
}

async function requireMigration(api: ApiClient, cluster: string): Promise<FetchedOnlineMigration> {
  const migration = await fetchOnlineMigration(api, cluster);
  if (migration === undefined) throw noMigrationError(cluster);
  return migration;
}

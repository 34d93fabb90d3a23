import { MigrationUnknownError, startOnlineMigration } from '../../api/databases.ts';
import type { CommandSpec, ParsedArgs } from '../../cli/command.ts';
import { describeActor, readStoredIdentity } from '../../context/current-identity.ts';
import type { Context } from '../../context.ts';
import { manualCopyCommands } from '../../db-source/manual-copy.ts';
import { type DbSource, readDbSource, sourceOptionSpecs } from '../../db-source/read-source.ts';
import { CliError, usageError } from '../../errors.ts';
import { hasWriteScope } from '../../oauth/scope.ts';
import { askTargetVersion } from '../../preflight/ask-target-version.ts';
import { textReport } from '../../preflight/formats/text-report.ts';
import { preflightOptionSpecs, readPreflightOptions } from '../../preflight/option-specs.ts';
import type { PreflightReport } from '../../preflight/report.ts';
import {
  methodNotPossibleError,
  type PreflightOutcome,
  reportOptionSpecs,
  runPreflightWithFiles,
} from '../../preflight/run-with-files.ts';
import { maxTextLength } from '../../sanitize/terminal-text.ts';
import { loginHints } from '../../session/session-binding.ts';
import { profileCommand } from '../../session/suggested-commands.ts';
import { listExistingSlots } from '../../watch/existing-slots.ts';
import { sourceNameOf, watchMigration } from '../../watch/follow-migration.ts';
import { formatSourceName, type RecordedStart, watchRecordPath, writeWatchRecord } from '../../watch/watch-record.ts';
import { readWatchArgs, watchOptionSpecs } from './watch.ts';

interface Migrated {
  readonly id: string;
  readonly status: string;
  readonly created_at: string;
  readonly deadline: string;
  readonly preflight?: PreflightReport;
}

const view = {
  columns: [
    { name: 'ID', value: (row: Migrated) => row.id },
    { name: 'Status', value: (row: Migrated) => row.status },
    { name: 'CreatedAt', value: (row: Migrated) => row.created_at },
    { name: 'Deadline', value: (row: Migrated) => row.deadline },
  ],
};

export const dbMigrateCommand: CommandSpec<Context> = {
  description:
    'Runs the preflight first. If the continuous migration is possible, it is started, after a confirmation in a terminal. Otherwise nothing is sent, and the exit code is 3. The service receives host, port, database, user and password of the source; the password is sent nowhere else. The migration replicates until it is stopped, for two weeks at most.',
  arguments: [
    { name: 'CLUSTER_UUID', description: 'UUID of the managed cluster that receives the data', required: true },
  ],
  options: [
    ...sourceOptionSpecs,
    ...preflightOptionSpecs,
    ...reportOptionSpecs,
    { name: 'skip-preflight', description: 'Start without a preflight' },
    { name: 'watch', description: 'Watch the migration after it is started, as `db watch` does' },
    ...watchOptionSpecs,
  ],
  examples: [
    {
      text: 'Migrate a database into a cluster',
      command:
        'PGPASSWORD=… cloudctl db migrate 3b643ad7-65aa-4066-b45b-1c64b6db600a --source postgres://mover@db.example.com/shop',
    },
    {
      text: 'Migrate without two of the databases',
      command:
        'cloudctl db migrate 3b643ad7-65aa-4066-b45b-1c64b6db600a --source postgres://mover@db.example.com/shop --ignore-dbs scratch,old',
    },
  ],
  run: async (context, args) => {
    const cluster = readClusterUuid(args);
    requireWatchFlag(args);
    const settings = context.settings();
    const source = await readDbSource(context, args);
    const read = readPreflightOptions(args, source.engine, settings, context.host.clock.now());
    await requireWrite(context);
    const options = args.has('skip-preflight') ? read : await askTargetVersion(context, source.engine, read);
    const preflight = args.has('skip-preflight')
      ? undefined
      : await runPreflightWithFiles(context, args, source, options);
    if (preflight !== undefined) await showPreflight(context, preflight, args.value('fix-sql'));
    if (options.method !== 'continuous') throw methodNotStartableError(source, options.method);
    if (preflight !== undefined && !preflight.report.ok)
      throw methodNotPossibleError(preflight.report, args.value('fix-sql'));
    const identity = await readStoredIdentity(context, settings);
    await confirm(context, source, cluster, describeActor(context, settings, identity));
    const api = await context.api(settings);
    const existingSlots = preflight === undefined ? undefined : await listExistingSlots(source, 5000);
    const hints = loginHints(settings, context.host.folders.config);
    const started = await startOnlineMigration(api, cluster, requestOf(source, args), hints, (words) =>
      profileCommand(settings.profile, words),
    ).catch(async (error: unknown) => {
      // With -o json standard error has the error alone.
      const isTold = error instanceof MigrationUnknownError && context.output.format !== 'json';
      if (isTold) await context.output.note(rulesText(source.engine));
      throw error;
    });
    const startedAt = startTimeOf(started.createdAt, context.host.clock.now());
    const deadline = new Date(startedAt + 14 * 86_400_000).toISOString().replace('.000Z', 'Z');
    const result: Migrated = {
      id: started.id,
      status: started.status,
      created_at: started.createdAt,
      deadline,
      ...(preflight === undefined ? {} : { preflight: preflight.report }),
    };
    await recordMigration(
      context,
      source,
      { at: startedAt, cluster, id: started.id, identity },
      preflight?.report,
      existingSlots,
    );
    await context.output.object(result, view);
    await context.output.note(acceptedText(source.engine, deadline));
    return args.has('watch') ? watchMigration(context, readWatchArgs(args, source, args.has('show-queries'))) : 0;
  },
};

function readClusterUuid(args: ParsedArgs): string {
  const [typed = ''] = args.positionals;
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(typed)) return typed.toLowerCase();
  throw usageError(
    'CLUSTER_UUID is not a UUID',
    'copy it from the control panel, for example 3b643ad7-65aa-4066-b45b-1c64b6db600a',
  );
}

/** Options of the watch have no effect without it. */
function requireWatchFlag(args: ParsedArgs): void {
  if (args.has('watch')) return;
  const unused = watchOptionSpecs.find(({ name }) => args.values(name).length > 0);
  if (unused !== undefined) throw usageError(`cannot use --${unused.name} without --watch`, 'add `--watch`');
}

/** Checked before the preflight, which takes long: a session without write scope could not start the migration. */
async function requireWrite(context: Context): Promise<void> {
  const settings = context.settings();
  if (settings.accessToken !== undefined) return;
  const record = await context.session(settings).record();
  if (hasWriteScope(record.scope)) return;
  throw new CliError('scope_too_small', 'cannot start a migration: the session has no write scope', {
    detail: `the scope of the session is ${record.scope}`,
    hint: loginHints(settings, context.host.folders.config).write,
  });
}

async function showPreflight(
  context: Context,
  { report, changes }: PreflightOutcome,
  fixFile: string | undefined,
): Promise<void> {
  const plain = (text: string): string => text;
  await context.output.note(
    textReport(report, { bold: plain, dim: plain, red: plain, yellow: plain }, { changes, fixFile })
      .trimEnd()
      .split('\n'),
    maxTextLength,
  );
}

/** The request has no method (spec.md §4.5): the service starts a continuous migration, so the user runs a dump by hand. */
function methodNotStartableError(source: DbSource, method: 'dump' | 'scan'): CliError {
  return usageError(
    `cannot start a ${method}: the service only starts continuous migrations`,
    'run these commands by hand; nothing was sent to the service',
    manualCopyCommands(source),
  );
}

async function confirm(context: Context, { source }: DbSource, cluster: string, actor: string): Promise<void> {
  if (!context.prompts.interactive) return;
  const message = `Start the online migration of ${source.host}:${source.port} into cluster ${cluster} as ${actor}?`;
  if (await context.prompts.confirm({ message })) return;
  throw new CliError('cancelled', 'the migration was not started', {
    hint: 'run the command again to start it; nothing was sent to the service',
  });
}

function requestOf({ engine, source }: DbSource, args: ParsedArgs): Parameters<typeof startOnlineMigration>[2] {
  const ignoreDbs = args.values('ignore-dbs');
  return {
    source: {
      host: source.host,
      ...(engine === 'postgresql' ? { dbname: source.dbname } : {}),
      port: source.port,
      ...(source.username === undefined ? {} : { username: source.username }),
      ...(source.password === undefined ? {} : { password: source.password }),
    },
    disableSsl: source.ssl === 'disable',
    ...(ignoreDbs.length === 0 ? {} : { ignoreDbs }),
  };
}

/** The time that the service tells, if a migration that starts now can have it; else now. */
function startTimeOf(createdAt: string, now: number): number {
  const told = Date.parse(createdAt);
  return Math.abs(told - now) < 14 * 86_400_000 ? told : now;
}

/** Saves for `db watch` when the migration started and which slots existed before. A failure is only a warning: the migration runs. */
async function recordMigration(
  context: Context,
  source: DbSource,
  started: RecordedStart,
  report: PreflightReport | undefined,
  existingSlots: readonly string[] | undefined,
): Promise<void> {
  const name = sourceNameOf(source);
  const openFindings = report?.findings
    .filter(({ status }) => status === 'warn' || status === 'fail')
    .map(({ id }) => id);
  try {
    writeWatchRecord(watchRecordPath(context.host.folders.state, name), {
      engine: source.engine,
      source: formatSourceName(name),
      started,
      ...(existingSlots === undefined ? {} : { before: existingSlots }),
      ...(openFindings === undefined ? {} : { warned: [...new Set(openFindings)] }),
    });
  } catch (error) {
    await context.output.warn(
      `could not save the start of the migration for \`db watch\`: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function acceptedText(engine: DbSource['engine'], deadline: string): readonly string[] {
  return [
    `The service accepted the migration. It runs until it is stopped, until ${deadline} at the latest. To see whether it copies data, run \`cloudctl db watch\`.`,
    ...rulesText(engine),
  ];
}

/** The rules of spec.md §4.6 for the time of the migration and after it. */
function rulesText(engine: DbSource['engine']): readonly string[] {
  const rules =
    engine === 'redis'
      ? ['do not change the replication configuration of the source, or the connection between the two databases']
      : [
          'do not write to the migrated tables on the target',
          'do not change the replication configuration of the source, wal_level or max_replication_slots',
          'do not interrupt the connection between the two databases',
        ];
  return [
    'While a migration runs:',
    ...rules.map((rule) => `  ${rule}`),
    'After it, restore the firewall rules and trusted sources that were opened for it.',
  ];
}

import type { Actor } from '../../api/actor.ts';
import type { ApiClient } from '../../api/client.ts';
import { type ClusterVersion, findClusterVersion } from '../../api/clusters.ts';
import { describeFailures, describeMigration } from '../../api/online-migration.ts';
import { mayHaveArrived, requireNoMigration, type StartedMigration } from '../../api/start-online-migration.ts';
import { scopeWords } from '../../auth/oauth/index.ts';
import { refusedHints } from '../../auth/session/index.ts';
import { CliError, type ExitCode, usageError } from '../../base/errors.ts';
import { maxTextLength } from '../../base/sanitize.ts';
import type { CommandSpec, ParsedArgs } from '../../cli/command.ts';
import { commandFor, tokenSource } from '../../config/settings.ts';
import { actorOf } from '../../context/actor.ts';
import type { CommandContext } from '../../context.ts';
import { readTargetOption } from '../../db/cutover/index.ts';
import { modelOf } from '../../db/preflight/formats/model.ts';
import { renderTerminal } from '../../db/preflight/formats/terminal.ts';
import {
  deepPreflightSpecs,
  isTargetVersion,
  type PreflightOptions,
  promptTargetVersion,
  readDeepPreflight,
  requireTargetVersion,
} from '../../db/preflight/options.ts';
import type { PreflightReport } from '../../db/preflight/report.ts';
import {
  blockedError,
  type ReportWithChanges,
  reportOptionSpecs,
  runWithFiles,
} from '../../db/preflight/run-with-files.ts';
import {
  clusterArgument,
  type DbSource,
  manualCopyCommands,
  readCluster,
  readSource,
  sourceOptionSpecs,
  sourceWords,
} from '../../db/source/index.ts';
import {
  helpWithFailures,
  isSameSource,
  migrateSource,
  migrationTimeLimit,
  plausibleStart,
  type RequestOutcome,
  readBefore,
  readWatchOptions,
  recordNewSlots,
  restrictionLines,
  type SourceBefore,
  settleInterrupted,
  sourceAddress,
  statusReader,
  watchMigration,
  watchOptions,
} from '../../db/watch/index.ts';
import { formatSourceName } from '../../db/watch/record.ts';
import { requireWritableFolder } from '../../platform/files.ts';
import { readTargetFacts, recordedCluster } from './preflight.ts';

/**
 * A migration request cannot select a method (docs/service.md S9.1): the service always starts a continuous migration. For a dump or
 * a scan, the user runs the printed commands.
 */
function methodNotStartableError(source: DbSource, method: 'dump' | 'scan'): CliError {
  return usageError(
    `cannot start a ${method}: the service only starts continuous migrations`,
    'run these commands by hand; nothing was sent to the service',
    manualCopyCommands(source),
  );
}

/** Ids of preflight checks that did not pass; `db watch` ranks likely causes by them. */
function listWarned({ findings }: PreflightReport): readonly string[] {
  return [...new Set(findings.flatMap(({ id, status }) => (status === 'warn' || status === 'fail' ? [id] : [])))];
}

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

export const dbMigrate: CommandSpec<CommandContext> = {
  description:
    'Runs the preflight first. If the continuous migration is possible, it is started, after a confirmation in a terminal. Otherwise nothing is sent, and the exit code is 3. The service receives host, port, database, user and password of the source; the password is sent nowhere else. The migration replicates until it is stopped, for two weeks at most.',
  arguments: [clusterArgument],
  options: [
    ...sourceOptionSpecs,
    readTargetOption,
    ...deepPreflightSpecs,
    ...reportOptionSpecs,
    { name: 'skip-preflight', description: 'Start without a preflight' },
    { name: 'watch', description: 'Watch the migration after it is started, as `db watch` does' },
    ...watchOptions.map((option) => ({ ...option, description: `With --watch: ${option.description}` })),
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
  fields: ['id', 'status', 'created_at', 'deadline', 'preflight'],
  run: async (context, args) => {
    const cluster = readCluster(args);
    if (args.has('deep') && args.has('skip-preflight'))
      throw usageError('cannot use --deep with --skip-preflight', 'remove one of the two options');
    requireWatchFlag(args);
    const { host, output } = context;
    const settings = context.settings();
    requireWritableFolder(host.folders.state, 'set CLOUDCTL_STATE_DIR to a folder that you can write to');
    const source = await readSource(context, args);
    const read = readDeepPreflight(args, source.engine, settings, host.clock.now());
    await requireWrite(context);
    const actor = actorOf(context);
    const interrupted = await settleInterrupted(context, actor, cluster);
    if (interrupted?.migration !== undefined && !interrupted.hasEnded) {
      requireSameStartSource(actor, interrupted, source);
      const { id = '', status = 'running', createdAt = '' } = interrupted.migration;
      return finish(context, actor, args, { source, started: { id, status, createdAt } });
    }
    const api = await actor.api();
    const commandOf = (words: string): string => commandFor(settings.profile, words);
    const former = recordedCluster(context, source) ?? cluster;
    const known = { ...read, cluster: former };
    const options = await readOptionsOfTarget(context, args, { api, cluster, source, read: known });
    const preflight = args.has('skip-preflight') ? undefined : await runWithFiles(context, args, source, options);
    // A migration that runs already leaves slots on the source: it is the error, not they. Without them, the response to the
    // start says the same.
    if (options.method === 'continuous' && preflight !== undefined && isBlockedBy(preflight.report, 'leftovers'))
      await requireNoMigration(api, cluster, commandOf);
    if (preflight !== undefined) await showPreflight(context, preflight, args);
    if (options.method !== 'continuous') throw methodNotStartableError(source, options.method);
    if (preflight !== undefined && !preflight.report.ok)
      throw blockedError(preflight.report, args.value('fix-sql'), commandOf(`db status ${former}`));
    requireEmptyTarget(actor, args, { cluster, source, options, databases: preflight?.report.databases ?? [] });
    await confirm(context, source, cluster, await actor.describeForPrompt());
    const ignoreDbs = args.values('ignore-dbs');
    const before = await readBefore(context, source, ignoreDbs);
    const started = await migrateSource(context, actor, {
      ...{ cluster, source, ignoreDbs, before },
      caFile: args.value('ca-file'),
      warned: preflight === undefined ? undefined : listWarned(preflight.report),
    }).catch(async (error: unknown) => {
      // With -o json, standard error contains only the error.
      const isText = output.format !== 'json' && output.format !== 'ndjson';
      if (isText && mayHaveArrived(error)) await output.note(restrictionLines(source.engine));
      throw error;
    });
    return finish(context, actor, args, { source, started, preflight: preflight?.report, before });
  },
};

interface MigrationTarget {
  readonly api: ApiClient;
  readonly cluster: string;
  readonly source: DbSource;
  readonly read: PreflightOptions;
}

/**
 * The options of the preflight with what is known of the target: the version of the cluster that the service lists, and
 * what the target in `--target` reports. Throws a usage error if they contradict each other or `--target-version`.
 */
async function readOptionsOfTarget(
  context: CommandContext,
  args: ParsedArgs,
  { api, cluster, source, read }: MigrationTarget,
): Promise<PreflightOptions> {
  const { engine } = source;
  if (args.has('skip-preflight')) return read;
  // No other method is started.
  const found = read.method === 'continuous' ? await findClusterVersion(api, cluster) : undefined;
  const listed = clusterVersion(engine, found);
  requireTargetVersion(engine, read.targetVersion, listed, `the cluster ${cluster}`);
  const target = await readTargetFacts(context, args, source);
  requireTargetVersion(engine, target.targetVersion, listed, `the cluster ${cluster}`);
  const known = { ...read, targetVersion: read.targetVersion ?? listed, ...target };
  return promptTargetVersion(context, engine, known);
}

/**
 * Throws what the service would report after the start, if a database of the target that receives rows has tables, or Redis
 * keys. It is known only if the target was named and read.
 */
function requireEmptyTarget(
  actor: Actor,
  args: ParsedArgs,
  {
    cluster,
    source,
    options,
    databases,
  }: {
    readonly cluster: string;
    readonly source: DbSource;
    readonly options: PreflightOptions;
    readonly databases: PreflightReport['databases'];
  },
): void {
  const names = databases.map(({ name }) => name);
  const found = (options.target?.contents ?? []).filter(
    ({ database }) => database === undefined || names.includes(database),
  );
  if (found.length === 0) return;
  const from = sourceWords(source, { ignoreDbs: args.values('ignore-dbs'), caFile: args.value('ca-file') });
  throw new CliError('preflight_blocked', 'cannot start the migration: the target is not empty; nothing was sent', {
    detail: describeFailures(found),
    hint: helpWithFailures(found, false, {
      preflight: actor.command('db preflight', ...from),
      stop: actor.command('db stop', cluster),
      migrate: actor.command('db migrate', cluster, ...from),
    }),
  });
}

/** The version in the form of `--target-version`; undefined if the service lists none, or a cluster of another engine. */
function clusterVersion(
  engine: DbSource['engine'],
  { engine: listed, version }: Partial<ClusterVersion> = {},
): string | undefined {
  const text = engine === 'redis' && (listed === 'redis' || listed === 'valkey') ? `${listed}-${version}` : version;
  return version !== undefined && text !== undefined && isTargetVersion(text, engine) ? text : undefined;
}

interface Accepted {
  readonly source: DbSource;
  readonly started: StartedMigration;
  readonly preflight?: PreflightReport | undefined;
  /** Undefined if an earlier run started the migration. */
  readonly before?: SourceBefore;
}

/** Prints the running migration, the rules that apply during it, and the next command; with --watch, follows the migration. */
async function finish(
  context: CommandContext,
  actor: Actor,
  args: ParsedArgs,
  { source, started: { id, status, createdAt }, preflight, before }: Accepted,
): Promise<ExitCode> {
  const { output, host } = context;
  const startedAt = plausibleStart(createdAt, host.clock.now());
  const deadline = new Date(startedAt + migrationTimeLimit).toISOString().replace('.000Z', 'Z');
  const result = { id, status, created_at: createdAt, deadline, ...(preflight === undefined ? {} : { preflight }) };
  await output.object<Migrated>(result, view);
  await output.note([
    `The service accepted the migration. The migration runs until it is stopped, until ${deadline} at the latest.`,
    ...restrictionLines(source.engine),
    ...(source.engine === 'redis' || before?.failure === undefined
      ? []
      : [
          `No baseline was written: ${before.failure}. If the migration stops, \`db watch\` knows only what changes while it runs.`,
        ]),
  ]);
  if (args.has('watch'))
    return watchMigration(context, {
      ...readWatchOptions(args, source),
      isNew: true,
      fetchStatus: statusReader(actor),
    });
  const ignoreDbs = args.values('ignore-dbs');
  if (before?.baseline !== undefined) await recordNewSlots(host, source, ignoreDbs);
  const from = sourceWords(source, { ignoreDbs, caFile: args.value('ca-file') });
  const next = actor.command('db watch', ...from, '--until-idle');
  await output.note(`Next, follow the migration until the target has caught up: ${next}`, maxTextLength);
  return 0;
}

/** A migration that an interrupted run started must have the same source as this run. */
function requireSameStartSource(actor: Actor, { start, migration }: RequestOutcome, source: DbSource): void {
  if (isSameSource(start.source, sourceAddress(source))) return;
  const command = (words: string): string => `\`${actor.command(words, start.cluster)}\``;
  throw new CliError('api_error', 'cannot start the migration: an earlier run started one into this cluster', {
    detail: `${describeMigration(migration ?? {})}, from ${formatSourceName(start.source)}; nothing was sent`,
    hint: `show the earlier migration with ${command('db status')}; stop it with ${command('db stop')}`,
  });
}

/** Options of `db watch` have no effect without --watch, so they are refused. */
function requireWatchFlag(args: ParsedArgs): void {
  if (args.has('watch')) return;
  const unused = watchOptions.find(({ name }) => args.values(name).length > 0);
  if (unused !== undefined) throw usageError(`cannot use --${unused.name} without --watch`, 'add `--watch`');
}

/** The scope is checked before the preflight, which takes long, because a session without write scope cannot start a migration. */
async function requireWrite(context: CommandContext): Promise<void> {
  const settings = context.settings();
  // Only a stored session names its scope.
  if (tokenSource(settings) !== 'session') return;
  const record = await (await context.session(settings)).record();
  if (scopeWords(record.scope).includes('write')) return;
  throw new CliError('scope_too_small', 'cannot start a migration: the session has no write scope', {
    detail: `the scope of the session is ${record.scope}`,
    hint: refusedHints(settings, context.host.folders.config).write,
  });
}

function isBlockedBy({ findings }: PreflightReport, check: string): boolean {
  return findings.some(({ id, status }) => id === check && status === 'fail');
}

async function showPreflight(
  context: CommandContext,
  { report, changes }: ReportWithChanges,
  args: ParsedArgs,
): Promise<void> {
  const plain = (text: string): string => text;
  await context.output.note(
    renderTerminal(
      modelOf(report),
      { bold: plain, dim: plain, red: plain, yellow: plain },
      { changes, fixFile: args.value('fix-sql'), reportFiles: args.values('report') },
    )
      .trimEnd()
      .split('\n'),
    maxTextLength,
  );
}

async function confirm(
  { prompts }: CommandContext,
  { source }: DbSource,
  cluster: string,
  actor: string,
): Promise<void> {
  const message = `Start the online migration of ${source.host}:${source.port} into cluster ${cluster} as ${actor}?`;
  if (!prompts.interactive || (await prompts.confirm({ message }))) return;
  throw new CliError('cancelled', 'the migration was not started', {
    hint: 'run the command again to start the migration; nothing was sent to the service',
  });
}

import type { ApiClient } from '../../api/client.ts';
import { type ClusterVersion, findClusterVersion } from '../../api/clusters.ts';
import { requireNoMigration } from '../../api/start-online-migration.ts';
import { scopeWords } from '../../auth/oauth/index.ts';
import { refusedHints } from '../../auth/session/index.ts';
import { CliError, usageError } from '../../base/errors.ts';
import { maxTextLength } from '../../base/sanitize.ts';
import type { CommandSpec, ParsedArgs } from '../../cli/command.ts';
import { commandFor, tokenSource } from '../../config/settings.ts';
import { actorOf } from '../../context/actor.ts';
import type { CommandContext } from '../../context.ts';
import { readTargetOption } from '../../db/cutover/index.ts';
import {
  blockedError,
  deepPreflightSpecs,
  isTargetVersion,
  modelOf,
  type PreflightOptions,
  type PreflightReport,
  promptTargetVersion,
  type ReportWithChanges,
  readDeepPreflight,
  renderTerminal,
  reportOptionSpecs,
  requireTargetVersion,
  runWithFiles,
} from '../../db/preflight/index.ts';
import {
  clusterArgument,
  type DbSource,
  manualCopyCommands,
  readCluster,
  readSource,
  sourceOptionSpecs,
} from '../../db/source/index.ts';
import {
  findInterrupted,
  listRisks,
  migrateSource,
  reportBegun,
  requireEmpty,
  requireNotStarted,
  requireWatchFlag,
  watchOptions,
} from '../../db/watch/index.ts';
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

function risksOf(report: PreflightReport, args: ParsedArgs): readonly string[] {
  const { problems, losses } = modelOf(report);
  return listRisks(problems, losses, args.values('report'));
}

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
    const { host } = context;
    const settings = context.settings();
    requireWritableFolder(host.folders.state, 'set CLOUDCTL_STATE_DIR to a folder that you can write to');
    const source = await readSource(context, args);
    const read = readDeepPreflight(args, source.engine, settings, host.clock.now());
    await requireWrite(context);
    const actor = actorOf(context);
    const earlier = await findInterrupted(context, actor, cluster, source);
    if (earlier !== undefined) return reportBegun(context, actor, args, source, earlier);
    if (read.method === 'continuous') await requireNotStarted(context, actor, args, { cluster, source });
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
    const names = (preflight?.report.databases ?? []).map(({ name }) => name);
    const contents = (options.target?.contents ?? []).filter(
      ({ database }) => database === undefined || names.includes(database),
    );
    requireEmpty(actor, args, cluster, source, contents);
    const warned = preflight === undefined ? undefined : listWarned(preflight.report);
    const risks = preflight === undefined ? [] : risksOf(preflight.report, args);
    if (context.prompts.interactive) await context.output.note(risks, maxTextLength);
    const begun = await migrateSource(context, actor, args, { cluster, source, warned });
    return reportBegun(context, actor, args, source, { ...begun, preflight: preflight?.report, risks });
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
  const target = await readTargetFacts(context, args, source);
  const what = `the cluster ${cluster}`;
  if (target.targetVersion === undefined) requireTargetVersion(engine, read.targetVersion, listed, what);
  // A service may call every server with this protocol `redis`; the server itself tells what it is.
  const named = listed?.replace(/^redis-/, '');
  requireTargetVersion(engine, target.targetVersion, named, what, readVersion(args));
  const known = { ...read, targetVersion: read.targetVersion ?? listed, ...target };
  return promptTargetVersion(context, engine, known);
}

function readVersion(args: ParsedArgs): { readonly by: string; readonly hint: string } {
  const by = args.value('target') === undefined ? 'CLOUDCTL_TARGET' : '--target';
  return {
    by: `the version of the server in ${by}`,
    hint: `set ${by === '--target' ? '`--target`' : by} to the server of this cluster, or give the UUID of the cluster of that server`,
  };
}

/** The version in the form of `--target-version`; undefined if the service lists none, or a cluster of another engine. */
function clusterVersion(
  engine: DbSource['engine'],
  { engine: listed, version }: Partial<ClusterVersion> = {},
): string | undefined {
  const text = engine === 'redis' && (listed === 'redis' || listed === 'valkey') ? `${listed}-${version}` : version;
  return version !== undefined && text !== undefined && isTargetVersion(text, engine) ? text : undefined;
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

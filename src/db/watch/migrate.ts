import type { Actor } from '../../api/actor.ts';
import {
  describeFailures,
  describeMigration,
  fetchMigration,
  isMigrationActive,
  listFailures,
  type MigrationFailure,
} from '../../api/online-migration.ts';
import { mayHaveArrived, type StartedMigration } from '../../api/start-online-migration.ts';
import { CliError, type ExitCode } from '../../base/errors.ts';
import { maxTextLength, sanitizeReportLine } from '../../base/sanitize.ts';
import { quoteShellArg } from '../../base/text.ts';
import type { ListView } from '../../cli/columns.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { type DbSource, sourceArgs, sourceWords } from '../source/index.ts';
import { failureCommands, helpWithFailures } from './failures.ts';
import { restrictionLines, settleInterrupted, statusReader } from './migration.ts';
import { formatSourceName, pathOfRecord, readRecord } from './record.ts';
import { migrationTimeLimit } from './sample.ts';
import { readBefore, recordNewSlots, type SourceBefore, sourceAddress } from './source.ts';
import { isSameSource, plausibleStart, startMigration } from './start.ts';
import { readWatchOptions, watchMigration } from './watch.ts';

/** A migration that was started, with what was read of its source before. */
export interface Begun {
  readonly started: StartedMigration;
  /** Undefined if an earlier run started the migration. */
  readonly before?: SourceBefore;
}

/**
 * The migration that an interrupted run started, and that still runs; undefined if there is none. Throws `api_error` if its
 * source is another one.
 */
export async function findInterrupted(
  io: CommandIo,
  actor: Actor,
  cluster: string,
  source: DbSource,
): Promise<Begun | undefined> {
  const interrupted = await settleInterrupted(io, actor, cluster);
  if (interrupted?.migration === undefined || interrupted.hasEnded) return undefined;
  const { start, migration } = interrupted;
  const { id = '', status = 'running', createdAt = '' } = migration;
  if (isSameSource(start.source, sourceAddress(source))) return { started: { id, status, createdAt } };
  const command = (words: string): string => `\`${actor.command(words, cluster)}\``;
  throw new CliError('api_error', 'cannot start the migration: an earlier run started one into this cluster', {
    detail: `${describeMigration(migration)}, from ${formatSourceName(start.source)}; nothing was sent`,
    hint: `show the earlier migration with ${command('db status')}; stop it with ${command('db stop')}`,
  });
}

/**
 * Throws `api_error` if this machine has started a migration of this source into the cluster, and it still runs. After a
 * terminal that was closed, the same command must not invite to stop it.
 */
export async function requireNotStarted(
  { host }: CommandIo,
  actor: Actor,
  args: ParsedArgs,
  { cluster, source }: { readonly cluster: string; readonly source: DbSource },
): Promise<void> {
  const started = readRecord(pathOfRecord(host.folders.state, sourceAddress(source)))?.started;
  if (started === undefined || started.id === '' || started.cluster !== cluster) return;
  // A service that cannot be read refuses a second start itself.
  const shown = await fetchMigration(await actor.api(), cluster).catch((error: unknown) => {
    if (error instanceof CliError) return undefined;
    throw error;
  });
  if (shown?.id !== started.id || !isMigrationActive(shown)) return;
  const at = new Date(started.at).toISOString().slice(0, 19);
  const failures = listFailures(shown);
  const from = sourceWords(source, moreOf(args));
  throw new CliError('api_error', `the migration that you started at ${at}Z is running; nothing was sent`, {
    detail: [describeMigration(shown), ...(failures.length === 0 ? [] : [describeFailures(failures)])].join('; '),
    hint:
      failures.length === 0
        ? `follow it with \`${actor.command('db watch', ...from, '--until-idle')}\``
        : helpWithFailures(failures, true, failureCommands(actor, cluster, from)),
    // The status with which the service refuses a second start.
    status: 409,
  });
}

/**
 * Throws what the service would report after the start.
 * @param contents databases of the target that have tables, or Redis keys, as far as it was read
 */
export function requireEmpty(
  actor: Actor,
  args: ParsedArgs,
  cluster: string,
  source: DbSource,
  contents: readonly MigrationFailure[],
): void {
  if (contents.length === 0) return;
  const from = sourceWords(source, moreOf(args));
  throw new CliError('preflight_blocked', 'cannot start the migration: the target is not empty; nothing was sent', {
    detail: describeFailures(contents),
    hint: helpWithFailures(contents, false, failureCommands(actor, cluster, from)),
  });
}

function moreOf(args: ParsedArgs): { readonly ignoreDbs: readonly string[]; readonly caFile: string | undefined } {
  return { ignoreDbs: args.values('ignore-dbs'), caFile: args.value('ca-file') };
}

/**
 * Starts the migration of a source after a confirmation, and records it.
 * @param warned ids of preflight checks that did not pass, by which `db watch` ranks likely causes; undefined without a preflight
 */
export async function migrateSource(
  io: CommandIo,
  actor: Actor,
  args: ParsedArgs,
  {
    cluster,
    source: named,
    warned,
  }: {
    readonly cluster: string;
    readonly source: DbSource;
    readonly warned: readonly string[] | undefined;
  },
): Promise<Begun> {
  const { engine, source } = named;
  const { output } = io;
  const more = moreOf(args);
  const { ignoreDbs } = more;
  await confirm(io, actor, cluster, named);
  const before = await readBefore(io, named, ignoreDbs);
  const sent = {
    ...{ cluster, source: sourceAddress(named), identity: await actor.storedIdentity() },
    baseOrigin: (await actor.api()).baseOrigin,
    sourceOptions: sourceArgs(named, more),
    ...(before.slots === undefined ? {} : { before: before.slots }),
    ...(before.runKeys === undefined ? {} : { runKeys: before.runKeys }),
    ...(engine === 'redis' ? {} : { baseline: before.baseline ?? null }),
    ...(warned === undefined ? {} : { warned }),
  };
  const request = {
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
  try {
    return { started: await startMigration({ io, actor }, sent, request), before };
  } catch (error) {
    // With -o json, standard error contains only the error.
    const isText = output.format !== 'json' && output.format !== 'ndjson';
    if (isText && mayHaveArrived(error)) await output.note(restrictionLines(engine));
    throw error;
  }
}

/** A finding of the preflight in all its databases. */
interface Warned {
  readonly ids: readonly string[];
  readonly title: string;
  readonly place: string;
  readonly parts: readonly {
    readonly observations: readonly { readonly observed: string; readonly objects: readonly string[] }[];
  }[];
}

/**
 * What is true only while a migration runs: writes of the application that fail, or that stop the replication; what makes its
 * start or every COMMIT wait; what the source runs out of. Other findings concern the start, which the preflight has judged, or
 * the target.
 */
const concernsRunning: ReadonlySet<string> = new Set([
  ...['replica-identity', 'full-without-eq', 'ddl-activity', 'partitions'],
  ...['slot-blockers', 'prepared-xacts', 'locked-tables', 'sync-standby-names', 'min-replicas'],
  ...['slot-retention', 'wal-rate', 'xid-wraparound', 'auth-expiry-window'],
  ...['repl-backlog', 'replica-output-buffer', 'source-memory', 'fork-memory', 'evicting-now'],
]);

const mostRisks = 5;

/**
 * What the preflight found that concerns the source while the migration runs: a line for each of the first findings, one for what
 * is not migrated, and where the details are. Empty if there is nothing of both.
 * @param problems of the preflight, the most severe first
 * @param losses what is not migrated
 * @param reports files with the whole report
 */
export function listRisks(
  problems: readonly Warned[],
  losses: readonly string[],
  reports: readonly string[],
): readonly string[] {
  const risks = problems.filter(({ ids }) => ids.some((id) => concernsRunning.has(id)));
  if (risks.length === 0 && losses.length === 0) return [];
  const more = risks.length > mostRisks ? [`  and ${risks.length - mostRisks} more`] : [];
  const details =
    reports.length > 0
      ? `Details: ${reports.map(quoteShellArg).join(', ')}`
      : '`db preflight --report FILE` has the details.';
  return [
    ...(risks.length === 0 ? [] : ['The preflight warns, for the time until the migration has ended:']),
    ...risks.slice(0, mostRisks).map((one) => `  ${sanitizeReportLine(describeRisk(one), 300)}`),
    ...more,
    ...(losses.length === 0 ? [] : [sanitizeReportLine(`Not migrated: ${losses.join('; ')}`, 300)]),
    details,
  ];
}

function describeRisk({ ids, title, place, parts }: Warned): string {
  const seen = parts.flatMap(({ observations }) => observations);
  const objects = seen.flatMap((one) => one.objects);
  const rest = objects.length > 3 ? ` and ${objects.length - 3} more` : '';
  const what = objects.length === 0 ? (seen[0]?.observed ?? '') : `${objects.slice(0, 3).join(', ')}${rest}`;
  return `${title}${place === '' ? '' : ` in ${place}`}: ${what} (${ids.join(', ')})`;
}

async function confirm({ prompts }: CommandIo, actor: Actor, cluster: string, { source }: DbSource): Promise<void> {
  const who = await actor.describeForPrompt();
  const message = `Start the online migration of ${source.host}:${source.port} into cluster ${cluster} as ${who}?`;
  if (!prompts.interactive || (await prompts.confirm({ message }))) return;
  throw new CliError('cancelled', 'the migration was not started', {
    hint: 'run the command again to start the migration; nothing was sent to the service',
  });
}

interface Migrated {
  readonly id: string;
  readonly status: string;
  readonly created_at: string;
  readonly deadline: string;
  readonly preflight?: object;
}

const view: ListView<Migrated> = {
  columns: [
    { name: 'ID', value: (row) => row.id },
    { name: 'Status', value: (row) => row.status },
    { name: 'CreatedAt', value: (row) => row.created_at },
    { name: 'Deadline', value: (row) => row.deadline },
  ],
};

/**
 * Prints the running migration, the rules that apply during it, and the next command; with --watch, follows the migration.
 * @param preflight its report, for the JSON output
 * @param risks what the preflight found about the time while it runs
 */
export async function reportBegun(
  io: CommandIo,
  actor: Actor,
  args: ParsedArgs,
  source: DbSource,
  {
    started: { id, status, createdAt },
    before,
    preflight,
    risks = [],
  }: Begun & { readonly preflight?: object | undefined; readonly risks?: readonly string[] },
): Promise<ExitCode> {
  const { output, host } = io;
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
    ...risks,
  ]);
  if (args.has('watch'))
    return watchMigration(io, {
      ...readWatchOptions(args, source, actor),
      isNew: true,
      fetchStatus: statusReader(actor),
    });
  const more = moreOf(args);
  if (before?.baseline !== undefined) await recordNewSlots(host, source, more.ignoreDbs);
  const next = actor.command('db watch', ...sourceWords(source, more), '--until-idle');
  await output.note(`Next, follow the migration until the target has caught up: ${next}`, maxTextLength);
  return 0;
}

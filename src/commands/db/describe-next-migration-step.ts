import {
  describeMigrationFailures,
  isMigrationActive,
  isMigrationStopping,
  listMigrationFailures,
  type OnlineMigration,
} from '../../api/online-migration.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';
import type { CommandContext } from '../../context.ts';
import { failureHeadline, formatIdentity, helpWithFailures } from '../../db/watch/index.ts';
import { listStarted, type StartedRecord } from '../../db/watch/record.ts';
import { formatProfileAndServerOptions } from '../profile-options.ts';
import { undoScriptNote } from './migration-rules.ts';

/** Sentences that tell the user, for a migration in this state, what to do next and with which command. */
export function describeNextMigrationStep(
  context: CommandContext,
  cluster: string,
  migration: Pick<OnlineMigration, 'id' | 'status' | 'raw'>,
): readonly string[] {
  const help = helpWithMigration(context, cluster, migration);
  if (help !== undefined)
    return [
      `The service reports: ${help.headline}`,
      `Next, ${help.next}`,
      ...(isMigrationActive(migration) ? [] : [undoScriptNote]),
    ];
  const { from, command, target, identity } = commandsOfMigration(context, cluster, migration);
  if (isMigrationStopping(migration))
    return [`The migration is stopping. Next, wait for its end: ${command('status', cluster, '--watch')}`];
  const cutover = command('cutover', cluster, ...from, '--target', target);
  if (!isMigrationActive(migration))
    return [
      `Next, compare the contents of source and target, and see what is left of the cut-over: ${cutover}`,
      undoScriptNote,
    ];
  return [
    ...identity,
    `Next, follow the migration until the target has caught up: ${command('watch', ...from, '--until-idle')}`,
    `Then see what is left to do before the cut-over: ${cutover}`,
  ];
}

/** What failed in a migration, and what helps; undefined if nothing failed. */
export function helpWithMigration(
  context: CommandContext,
  cluster: string,
  migration: Pick<OnlineMigration, 'id' | 'status' | 'raw'>,
): { readonly headline: string; readonly reasons: string; readonly next: string } | undefined {
  const failures = listMigrationFailures(migration);
  if (failures.length === 0) return undefined;
  const { from, command } = commandsOfMigration(context, cluster, migration);
  const commands = {
    preflight: command('preflight', ...from),
    stop: command('stop', cluster),
    migrate: command('migrate', cluster, ...from),
  };
  return {
    headline: failureHeadline(failures),
    reasons: describeMigrationFailures(failures),
    next: helpWithFailures(failures, isMigrationActive(migration), commands),
  };
}

function commandsOfMigration(context: CommandContext, cluster: string, { id }: Pick<OnlineMigration, 'id'>) {
  const profile = formatProfileAndServerOptions(context.globals, context.settings().profile);
  const latest = listStarted(context.host.folders.state).find(({ started }) => started.cluster === cluster);
  // What is recorded of another migration says nothing about this one.
  const record = latest?.started.id === id ? latest : undefined;
  const from = (record?.sourceOptions ?? ['--source', 'URL']).map(quoteShellArg);
  const command = (...words: readonly string[]): string => ['cloudctl db', ...words, ...profile].join(' ');
  return { from, command, target: recordedTarget(record), identity: describeIdentity(latest, record) };
}

/** How the slots of the migration were identified on this machine; that another migration is recorded, if so. */
function describeIdentity(latest: StartedRecord | undefined, record: StartedRecord | undefined): readonly string[] {
  if (latest !== undefined && record === undefined && latest.started.id !== '')
    return [
      `This machine has recorded migration ${sanitizeLine(latest.started.id, 80)} into the cluster, not the one that the service shows.`,
    ];
  return (record?.slots ?? []).flatMap(({ name, database, grade, by }) => {
    if (grade === undefined || by === undefined) return [];
    const place = database === '' ? '' : `${sanitizeLine(database, 80)}: `;
    return [`  ${place}${sanitizeLine(name, 80)}, ${formatIdentity({ grade, by: sanitizeLine(by, 200) })}`];
  });
}

/** The target is known after `db cutover` has connected to it. */
function recordedTarget(record: StartedRecord | undefined): string {
  if (record === undefined) return 'URL';
  if (record.target !== undefined) return quoteShellArg(record.target);
  return record.engine === 'redis' ? 'rediss://HOST' : 'postgres://USER@HOST:PORT/DBNAME';
}

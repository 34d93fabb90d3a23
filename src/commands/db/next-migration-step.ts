import { isEndedMigrationStatus, isFailedMigrationStatus } from '../../api/online-migration.ts';
import { profileOptionArgs } from '../../batch/report/resume-command.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';
import type { CommandContext } from '../../context.ts';
import { listStartedMigrations, type StartedMigrationRecord } from '../../watch/list-started-migrations.ts';
import { undoScriptNote } from './migration-rules.ts';

/** What follows for a migration with this status: sentences for the user, each with a command. */
export function nextMigrationStep(
  context: CommandContext,
  cluster: string,
  status: string | undefined,
): readonly string[] {
  const profile = profileOptionArgs(context.globals, context.settings().profile);
  const record = listStartedMigrations(context.host.folders.state).find(({ started }) => started.cluster === cluster);
  const from = ['--source', recordedSourceUrl(record)];
  const command = (...words: readonly string[]): string => ['cloudctl db', ...words, ...profile].join(' ');
  const cutover = command('cutover', cluster, ...from, '--target', targetPlaceholder(record));
  if (isFailedMigrationStatus(status))
    return [`Next, find the cause: ${command('preflight', ...from)}`, undoScriptNote];
  if (isEndedMigrationStatus(status)) return [`Next, check that everything has arrived: ${cutover}`, undoScriptNote];
  return [
    `Next, follow the migration until the target has caught up: ${command('watch', ...from, '--until-idle')}`,
    `Then see what is left to do before the cut-over: ${cutover}`,
  ];
}

/** The record has no user name and no TLS options. */
function recordedSourceUrl(record: StartedMigrationRecord | undefined): string {
  if (record === undefined) return 'URL';
  return quoteShellArg(record.engine === 'redis' ? `redis://${record.source}` : `postgres://USER@${record.source}`);
}

function targetPlaceholder(record: StartedMigrationRecord | undefined): string {
  if (record === undefined) return 'URL';
  return record.engine === 'redis' ? 'rediss://HOST' : 'postgres://USER@HOST:PORT/DBNAME';
}

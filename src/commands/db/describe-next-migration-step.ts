import { isEndedMigrationStatus, isFailedMigrationStatus } from '../../api/online-migration.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';
import type { CommandContext } from '../../context.ts';
import { listStartedMigrations, type StartedMigrationRecord } from '../../db/watch/list-started-migrations.ts';
import { formatProfileAndServerOptions } from '../profile-options.ts';
import { undoScriptNote } from './migration-rules.ts';

/** Sentences that tell the user, for a migration with this status, what to do next and with which command. */
export function describeNextMigrationStep(
  context: CommandContext,
  cluster: string,
  status: string | undefined,
): readonly string[] {
  const profile = formatProfileAndServerOptions(context.globals, context.settings().profile);
  const record = listStartedMigrations(context.host.folders.state).find(({ started }) => started.cluster === cluster);
  const from = (record?.sourceOptions ?? ['--source', 'URL']).map(quoteShellArg);
  const command = (...words: readonly string[]): string => ['cloudctl db', ...words, ...profile].join(' ');
  const cutover = command('cutover', cluster, ...from, '--target', recordedTarget(record));
  if (isFailedMigrationStatus(status))
    return [`Next, find the cause: ${command('preflight', ...from)}`, undoScriptNote];
  if (isEndedMigrationStatus(status))
    return [
      `Next, compare the contents of source and target, and see what is left of the cut-over: ${cutover}`,
      undoScriptNote,
    ];
  return [
    `Next, follow the migration until the target has caught up: ${command('watch', ...from, '--until-idle')}`,
    `Then see what is left to do before the cut-over: ${cutover}`,
  ];
}

/** The target is known after `db cutover` has connected to it. */
function recordedTarget(record: StartedMigrationRecord | undefined): string {
  if (record === undefined) return 'URL';
  if (record.target !== undefined) return quoteShellArg(record.target);
  return record.engine === 'redis' ? 'rediss://HOST' : 'postgres://USER@HOST:PORT/DBNAME';
}

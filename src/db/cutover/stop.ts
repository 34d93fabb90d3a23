import type { Actor } from '../../api/actor.ts';
import {
  describeMigration,
  type FetchedMigration,
  isMigrationActive,
  isMigrationStopping,
  listActiveDatabases,
} from '../../api/online-migration.ts';
import { awaitEnd, hasMigrationEnded, needsStopRequest, requestStop } from '../../api/stop-online-migration.ts';
import { CliError, usageError } from '../../base/errors.ts';
import { maxTextLength } from '../../base/sanitize.ts';
import { formatDuration } from '../../base/text.ts';
import { type CommandIo, quietForJson } from '../../cli/command-io.ts';
import { runUntilSignal } from '../../platform/waiting.ts';
import type { DbSource } from '../source/index.ts';
import { leftoverLines, migrationView, nextSteps, requireMigration, settleInterrupted } from '../watch/index.ts';
import { listStarted } from '../watch/record.ts';
import { describeLock } from './follow.ts';
import {
  describeCleanSource,
  describeRemainsQuery,
  findSourceRemains,
  type MigrationMarks,
  recordedSlots,
  slotRisk,
} from './remains.ts';

interface StopOptions {
  readonly cluster: string;
  /** Milliseconds to wait for the end of the migration. */
  readonly limit: number;
  /** Read afterwards, to find out whether something is left there. */
  readonly source: DbSource | undefined;
  readonly ignoreDbs: readonly string[];
}

/** Throws `usage`, before any request, when nobody can confirm the stop. */
export function requireStoppable({ prompts, globals }: CommandIo, actor: Actor, cluster: string): void {
  if (prompts.interactive || globals.has('yes')) return;
  throw usageError(
    'the stop is not confirmed, and there is no terminal for a prompt',
    `confirm with \`${actor.command('db stop', cluster, '--yes')}\``,
    'nothing was sent to the service',
  );
}

/** Stops the migration into a cluster after a confirmation, waits for its end, and says whether it left something. */
export async function stopMigration(io: CommandIo, actor: Actor, options: StopOptions): Promise<void> {
  const { output, prompts } = io;
  const { cluster } = options;
  await settleInterrupted(io, actor, cluster);
  const api = await actor.api();
  const migration = await requireMigration(api, cluster);
  const isStopped = !needsStopRequest(migration);
  let shown = migration;
  if (isStopped) await output.note('The migration has already ended. Nothing was sent.');
  else {
    const message = `Stop ${describeMigration(migration)}, into cluster ${cluster} as ${await actor.describeForPrompt()}? A stopped migration cannot be continued.`;
    if (!(await prompts.confirm({ message })))
      throw new CliError('cancelled', 'the migration was not stopped', {
        hint: 'run the command again to stop the migration',
      });
    shown = await requestStop(api, cluster, migration, actor.loginHints());
  }
  if (!isStopped || isMigrationActive(migration)) shown = await waitForEnd(io, actor, options, shown);
  await output.object(shown.raw, migrationView);
  const hasEnded = hasMigrationEnded(shown);
  if (!hasEnded)
    await output.note(
      `The service accepted the stop, and still shows the status ${shown.status}. Next: ${actor.command('db status', cluster, '--watch')}`,
      maxTextLength,
    );
  else if (!isStopped)
    await output.note(
      'The migration is stopped. The copied data stays on the target. Restore the firewall rules and trusted sources that were opened for it.',
    );
  if (options.source !== undefined || hasEnded) await reportRemains(io, options, shown);
  if (hasEnded) await output.note(nextSteps(io, actor, cluster, shown), maxTextLength);
}

/** Waits until every database has ended; throws a CliError at the time limit. */
async function waitForEnd(
  io: CommandIo,
  actor: Actor,
  { cluster, limit }: StopOptions,
  stopping: FetchedMigration,
): Promise<FetchedMigration> {
  const { host, progress } = quietForJson(io);
  const api = await actor.api();
  const hint = `wait for the end with \`${actor.command('db stop', cluster, '--yes')}\`: it sends the stop again, which changes nothing`;
  const onPoll = (migration: FetchedMigration): void => {
    const active = listActiveDatabases(migration);
    const names = active.length === 0 ? '' : `: ${active.slice(0, 5).join(', ')}`;
    if (names !== '' || isMigrationStopping(migration)) void progress.show(`stopping${names}`);
  };
  const message = 'the wait was interrupted; the stop was sent, and the migration is stopping';
  let last: FetchedMigration;
  try {
    last = await runUntilSignal(host.signals, message, (signal) =>
      awaitEnd(api, cluster, stopping, { clock: host.clock, signal, limit, onPoll }),
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
  { host, output }: CommandIo,
  { cluster, source, ignoreDbs }: StopOptions,
  { id, raw }: FetchedMigration,
): Promise<void> {
  const record = listStarted(host.folders.state).find(
    ({ started }) => started.cluster === cluster && (id === undefined || started.id === id),
  );
  const marks: MigrationMarks = { id, record };
  const leftovers = leftoverLines(raw);
  if (source === undefined && leftovers.length > 0)
    throw new CliError('api_error', 'the migration has ended, and the service left objects of it', {
      detail: [...leftovers, ...(leftovers.some((one) => one.includes('replication slot')) ? [slotRisk] : [])].join(
        '; ',
      ),
      hint: 'remove the objects, then run the same command again with `--source`, which checks that nothing is left',
    });
  // What is left on a source is read below.
  await output.note(leftoverLines(raw, ['target']), maxTextLength);
  if (source === undefined) {
    await output.note(describeRemainsQuery(marks), maxTextLength);
    return;
  }
  const { own, script, doubtful } = await runUntilSignal(
    host.signals,
    'the check of the source was interrupted; the migration was stopped',
    (signal) => findSourceRemains(source, marks, { clock: host.clock, signal, ignoreDbs }),
  ).catch((error: unknown) => {
    throw source.engine === 'redis' ? error : withSlots(error, marks);
  });
  // A cut-over that is given up may have left the source read-only.
  const lock = source.engine === 'redis' ? undefined : await describeLock({ source, ignoreDbs });
  if (lock !== undefined) await output.warn(lock);
  if (own.length > 0) {
    const retained = source.engine === 'redis' ? [] : [slotRisk];
    // A service that lists what it could not remove does not try again.
    const wait =
      leftoverLines(raw, ['source']).length > 0 ? undefined : 'wait a minute, and run the same command again';
    const remove = [
      `${wait === undefined ? '' : `${wait}; if they are still there, `}run these lines in psql on the source, then the same command again:`,
      ...script,
    ].join('\n');
    throw new CliError('api_error', 'the migration is not removed from the source', {
      detail: [...own, ...retained].join('; '),
      hint: script.length === 0 ? (wait ?? 'remove the objects, and run the same command again') : remove,
    });
  }
  if (doubtful.length > 0)
    await output.note(
      `Not proven that nothing is left on the source: ${doubtful.join('; ')}. Drop what nothing else uses${source.engine === 'redis' ? '' : `, a slot with SELECT pg_catalog.pg_drop_replication_slot('NAME'): ${slotRisk}`}.`,
      maxTextLength,
    );
  else await output.note(describeCleanSource(source.engine));
}

/** A source that cannot be read may have the slots of the migration. */
function withSlots(error: unknown, marks: MigrationMarks): unknown {
  if (!(error instanceof CliError) || error.code !== 'source_unreachable') return error;
  const { code, message, detail = '', hint = '', exitCode, cause } = error;
  const { own, script } = recordedSlots(marks);
  const known = own.length === 0 ? '' : `; the migration had ${own.join(', ')}`;
  const remove =
    script.length === 0
      ? []
      : ['; until then, these lines in psql on the source drop the slots that are left:', ...script];
  return new CliError(code, message, {
    detail: `${detail}; ${slotRisk}${known}`,
    hint: `${hint}${remove.join('\n')}`,
    ...{ exitCode, cause },
  });
}

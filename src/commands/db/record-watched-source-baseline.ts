import type { ParsedArgs } from '../../cli/command.ts';
import type { CommandContext } from '../../context.ts';
import type { DbSource } from '../../db-source/read-source.ts';
import { runUntilSignal } from '../../platform/until-signal.ts';
import type { PreflightReport } from '../../preflight/report.ts';
import { watchedSourceBaselinePath, writeWatchedSourceBaselineFile } from '../../watch/baseline-file.ts';
import { observeSourceBeforeMigration, type SourceBeforeMigration } from '../../watch/source-before-migration.ts';
import { getWatchedSourceAddress, watchAndRecordNewMigrationSlots } from '../../watch/update-slots-of-watch-record.ts';
import { getMigrationWatchRecordPath } from '../../watch/watch-record.ts';

/**
 * Time limits in milliseconds: for reading the source, and for waiting until the service has created its replication slots.
 */
const readLimit = 20_000;
const slotLimit = 5000;

/** `note` tells the user why no baseline was recorded. */
export type WatchedSourceBaselineRecordingResult = SourceBeforeMigration & { readonly note?: string };

/**
 * Records the source as it is before the migration, so that `db watch` can name what changed later. A source that cannot be read
 * does not prevent the migration.
 */
export async function recordWatchedSourceBaseline(
  { host }: CommandContext,
  args: ParsedArgs,
  source: DbSource,
  cluster: string,
): Promise<WatchedSourceBaselineRecordingResult> {
  const before = await runUntilSignal(host.signals, 'the migration was not started', (signal) =>
    observeSourceBeforeMigration(source, {
      ignoreDbs: args.values('ignore-dbs'),
      now: () => host.clock.now(),
      limit: readLimit,
      signal,
    }),
  );
  if (source.engine === 'redis') return before;
  // If the baseline is undefined, `saveBaseline` removes the baseline of an earlier migration.
  const unsaved = saveBaseline(
    watchedSourceBaselinePath(host.folders.state, getWatchedSourceAddress(source), cluster),
    before,
  );
  const reason = before.failure ?? unsaved;
  if (reason === undefined) return before;
  const { baseline: _baseline, ...rest } = before;
  const note = `No baseline was written: ${reason}. If the migration stops, \`db watch\` knows only what changes while it runs.`;
  return { ...rest, note };
}

/** Records the replication slots that the service creates on the source in the first seconds of the migration. */
export async function recordSlotsOfStartedMigration(
  { host }: CommandContext,
  args: ParsedArgs,
  source: DbSource,
): Promise<void> {
  const path = getMigrationWatchRecordPath(host.folders.state, getWatchedSourceAddress(source));
  const options = { clock: host.clock, ignoreDbs: args.values('ignore-dbs'), limit: slotLimit };
  await watchAndRecordNewMigrationSlots(path, source, options);
}

/** Ids of preflight checks that did not pass; `db watch` ranks likely causes by them. */
export function listWarnedOrFailedCheckIds({ findings }: PreflightReport): readonly string[] {
  return [...new Set(findings.flatMap(({ id, status }) => (status === 'warn' || status === 'fail' ? [id] : [])))];
}

/** Writes the baseline file; returns the reason if the file could not be written. */
function saveBaseline(path: string, { baseline }: SourceBeforeMigration): string | undefined {
  try {
    writeWatchedSourceBaselineFile(path, baseline);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return error.message;
  }
}

import type { ParsedArgs } from '../../cli/command.ts';
import type { CommandContext } from '../../context.ts';
import type { PreflightReport } from '../../db/preflight/report.ts';
import type { DbSource } from '../../db/source/index.ts';
import { observeBefore, recordNewSlots, type SourceBefore, sourceAddress } from '../../db/watch/index.ts';
import { pathOfRecord } from '../../db/watch/record.ts';
import { runUntilSignal } from '../../platform/waiting.ts';

/**
 * Time limits in milliseconds: for reading the source, and for waiting until the service has created its replication slots.
 */
const readLimit = 20_000;
const slotLimit = 5000;

/** `note` tells the user why there is no baseline. */
export type SourceBeforeMigrationResult = SourceBefore & { readonly note?: string };

/**
 * Reads the source as it is before the migration, so that `db watch` can name what changed later. `startMigration`
 * writes the baseline file when the service has started the migration. A source that cannot be read does not prevent the
 * migration.
 */
export async function readSourceBeforeMigration(
  { host }: CommandContext,
  args: ParsedArgs,
  source: DbSource,
): Promise<SourceBeforeMigrationResult> {
  const before = await runUntilSignal(host.signals, 'the migration was not started', (signal) =>
    observeBefore(source, {
      ignoreDbs: args.values('ignore-dbs'),
      now: () => host.clock.now(),
      limit: readLimit,
      signal,
    }),
  );
  if (source.engine === 'redis' || before.failure === undefined) return before;
  const note = `No baseline was written: ${before.failure}. If the migration stops, \`db watch\` knows only what changes while it runs.`;
  return { ...before, note };
}

/** Records the replication slots that the service creates on the source in the first seconds of the migration. */
export async function recordSlotsOfStartedMigration(
  { host }: CommandContext,
  args: ParsedArgs,
  source: DbSource,
): Promise<void> {
  const path = pathOfRecord(host.folders.state, sourceAddress(source));
  const options = { clock: host.clock, ignoreDbs: args.values('ignore-dbs'), limit: slotLimit };
  await recordNewSlots(path, source, options);
}

/** Ids of preflight checks that did not pass; `db watch` ranks likely causes by them. */
export function listWarnedOrFailedCheckIds({ findings }: PreflightReport): readonly string[] {
  return [...new Set(findings.flatMap(({ id, status }) => (status === 'warn' || status === 'fail' ? [id] : [])))];
}

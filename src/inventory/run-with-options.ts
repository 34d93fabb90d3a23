import type { ListView } from '../cli/columns.ts';
import type { ParsedArgs } from '../cli/command.ts';
import type { CommandIo } from '../cli/command-io.ts';
import { readInputFile } from '../cli/input-file.ts';
import type { ProfileSettings } from '../config/settings.ts';
import { CliError, usageError } from '../errors.ts';
import { runUntilSignal } from '../platform/until-signal.ts';
import { requireWritableFile, writeReportFile } from '../preflight/write-report-file.ts';
import { maxSanitizedTextLength } from '../sanitize/terminal-text.ts';
import { checkInventory } from './check-inventory.ts';
import { type CheckedSource, createSharedSchemas, type SourceChecker } from './check-source.ts';
import { renderInventoryReport } from './formats/render-inventory.ts';
import type { InventoryEntry, InventoryEntryInput } from './inventory-entry.ts';
import type { BadInventoryLine } from './inventory-lines.ts';
import type { InventorySettings } from './inventory-options.ts';
import { createInventoryReportBuilder, type InventoryReport } from './inventory-report.ts';
import { parseInventory } from './parse-inventory.ts';
import { readInventoryFile } from './read-inventory-file.ts';
import { createSharedPostgresql } from './shared-postgresql.ts';
import { createSharedRedis } from './shared-redis.ts';
import { openSourceFolder } from './source-files.ts';
import type { SourceOutcome } from './source-outcome.ts';

export interface InventoryInput {
  readonly io: CommandIo;
  readonly args: ParsedArgs;
  readonly settings: ProfileSettings;
  readonly inventory: InventorySettings;
}

/**
 * Checks all sources of an inventory, shows the progress, and writes the files that the options name. In ndjson and csv each source
 * is printed as soon as it is checked.
 */
export async function runInventory(input: InventoryInput): Promise<InventoryReport> {
  const { io, inventory } = input;
  for (const file of inventory.reports) requireWritableFile(file);
  const entries = await readEntries(input);
  const startedAt = io.host.clock.now();
  const builder = createInventoryReportBuilder();
  try {
    await runUntilSignal(io.host.signals, 'the inventory was cancelled', async (signal) => {
      const checker = createSourceChecker(input, entries, signal);
      await printOutcomes(io, entries.length, checkInventory(entries, checker, inventory), builder.add);
      signal.throwIfAborted();
    });
  } finally {
    await io.progress.stop();
  }
  const report = builder.finish(startedAt, io.host.clock.now());
  for (const file of inventory.reports) writeReportFile(file, renderInventoryReport(file, report) ?? '');
  return report;
}

async function readEntries({ io, args, settings, inventory }: InventoryInput): Promise<readonly InventoryEntry[]> {
  const path = inventory.sources ?? '-';
  const { bytes, ...refusals } = await readInventoryFile(path, io.host);
  const input: InventoryEntryInput = {
    ...refusals,
    args,
    settings,
    env: io.host.env,
    readText: readInputFile,
    now: io.host.clock.now(),
  };
  const { entries, bad } = parseInventory(bytes, input);
  if (bad.length > 0) await refuseBadLines(io, path, bad);
  if (entries.length === 0)
    throw usageError('the inventory has no source', 'write a URL or a service name on each line');
  return entries;
}

/** Every bad line is printed, since the detail of an error would be cut. */
async function refuseBadLines({ output }: CommandIo, path: string, bad: readonly BadInventoryLine[]): Promise<never> {
  const from = path === '-' ? 'standard input' : path;
  for (const { line, reason } of bad) await output.show(`${from}:${line}: ${reason}`);
  throw usageError(
    `${bad.length} ${bad.length === 1 ? 'line' : 'lines'} of ${from} cannot be used; nothing was checked`,
    'correct the lines above, and run the command again',
  );
}

function createSourceChecker(
  { io, args, inventory }: InventoryInput,
  entries: readonly InventoryEntry[],
  signal: AbortSignal,
): SourceChecker {
  const { host, output } = io;
  const { baseline, reportDir } = inventory;
  return {
    postgresql: createSharedPostgresql({ named: databasesByUser(entries), connections: inventory.perServer }),
    redis: createSharedRedis(),
    env: host.env,
    platform: host.platform,
    clock: host.clock,
    signal,
    deadline: inventory.deadline,
    baselines: baseline === undefined ? undefined : openSourceFolder(baseline, '--baseline'),
    reports: reportDir === undefined ? undefined : openSourceFolder(reportDir, '--report-dir'),
    schemas: createSharedSchemas(),
    onQuery(name, place, text) {
      if (args.has('show-queries'))
        void output.show(`query sent to ${name}, ${place}: ${text}`, maxSanitizedTextLength);
    },
  };
}

/** The databases that sources with the scope `database` name, by user name. */
function databasesByUser(entries: readonly InventoryEntry[]): (username: string) => ReadonlySet<string> {
  const names = new Map<string, Set<string>>();
  for (const { scope, withPassword } of entries) {
    const { engine, source } = withPassword(undefined);
    if (scope !== 'database' || engine !== 'postgresql') continue;
    names.set(source.username, (names.get(source.username) ?? new Set()).add(source.dbname));
  }
  return (username) => names.get(username) ?? new Set();
}

/** Prints each outcome as it comes, where the format has rows, and shows the progress. */
async function printOutcomes(
  { host, output, progress }: CommandIo,
  total: number,
  checked: AsyncIterable<CheckedSource>,
  add: (outcome: SourceOutcome) => void,
): Promise<void> {
  let done = 0;
  async function* rows(): AsyncGenerator<SourceOutcome> {
    await progress.show(`0 of ${total} sources checked`);
    for await (const { outcome } of checked) {
      done += 1;
      add(outcome);
      if (host.stderr.isTTY) await output.note(`${outcomeLine(outcome)}`);
      await progress.show(`${done} of ${total} sources checked`);
      yield outcome;
    }
  }
  if (output.format === 'ndjson' || output.format === 'csv') return output.list(rows(), outcomeView);
  for await (const _ of rows());
}

function outcomeLine({ name, verdict, ok, method, reason, blocked_by: blockedBy }: SourceOutcome): string {
  if (reason !== undefined) return `${name}: not checked, ${reason}`;
  if (ok) return `${name}: ${verdict}`;
  return `${name}: ${method} is not possible (${blockedBy.join(', ')})`;
}

const outcomeView: ListView<SourceOutcome> = {
  isReport: true,
  columns: [
    { name: 'Name', value: ({ name }) => name },
    { name: 'State', value: ({ state }) => state },
    { name: 'Verdict', value: ({ verdict }) => verdict },
    { name: 'Ok', value: ({ ok }) => ok },
    { name: 'BlockedBy', value: ({ blocked_by: ids }) => ids.join(',') },
    { name: 'Reason', value: ({ reason }) => reason },
    { name: 'Server', value: ({ server }) => server, extra: true },
    { name: 'Version', value: ({ server_version: version }) => version, extra: true },
    { name: 'Databases', value: ({ databases }) => databases, extra: true },
    { name: 'URL', value: ({ url }) => url, extra: true },
    { name: 'Line', value: ({ line }) => line, extra: true },
  ],
};

/** The error of an inventory with sources that are not possible or were not checked; undefined if all are possible. */
export function buildInventoryError({ summary, fix_first: [first] }: InventoryReport): CliError | undefined {
  const { sources, not_possible: blocked, not_checked: unchecked } = summary;
  const counts = `of ${sources} sources ${summary.possible} are possible, ${blocked} not, and ${unchecked} were not checked`;
  // A blocked source stays blocked whatever the others show, so its exit code wins.
  if (blocked > 0)
    return new CliError('preflight_blocked', `the requested migration is not possible for ${blocked} sources`, {
      detail: counts,
      hint: first === undefined ? 'fix the findings of the report' : `fix first: ${first.ids.join(', ')}`,
    });
  if (unchecked > 0)
    return new CliError('inventory_incomplete', `${unchecked} sources could not be checked`, {
      detail: counts,
      hint: 'the report has the reason of each; run the same command again',
    });
  return undefined;
}

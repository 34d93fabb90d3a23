import { CliError, usageError } from '../base/errors.ts';
import { maxSanitizedTextLength } from '../base/sanitize.ts';
import type { ListView } from '../cli/columns.ts';
import type { CommandIo } from '../cli/command-io.ts';
import { runUntilSignal } from '../platform/until-signal.ts';
import { requireWritableFile, writeReportFile } from '../preflight/write-report-file.ts';
import { createCertificateFileReader } from './certificate-file-reader.ts';
import { createPerServerSchemaFingerprintsCache, type InventorySourceCheckDeps } from './check-inventory-source.ts';
import { checkSourceInventory } from './check-source-inventory.ts';
import { countedNoun } from './formats/inventory-text.ts';
import { renderSourceInventoryReport } from './formats/render-source-inventory-report.ts';
import { createInventoryFileFailures, type InventoryFileFailures } from './inventory-file-failures.ts';
import { createInventoryPostgresqlEngineFactory } from './inventory-postgresql-engine-factory.ts';
import { createInventoryRedisEngineFactory } from './inventory-redis-engine-factory.ts';
import type { InventorySourceOutcome } from './inventory-source-outcome.ts';
import type { RunSourceInventoryInput } from './options.ts';
import { parseSourceInventory } from './parse-source-inventory.ts';
import { openPerSourceFileFolder } from './per-source-file-folder.ts';
import { readSourcesFile } from './read-sources-file.ts';
import type { SourceInventoryEntry } from './source-inventory-entry.ts';
import { createSourceInventoryReportBuilder, type SourceInventoryReport } from './source-inventory-report.ts';
import type { BadSourcesFileLine } from './split-sources-file-lines.ts';
import { streamPushedItems } from './stream-pushed-items.ts';

export interface SourceInventoryRunResult {
  readonly report: SourceInventoryReport;
  /** The error for files that could not be read or written; undefined if there are none. */
  readonly fileError: CliError | undefined;
}

/**
 * Checks all sources of an inventory, shows the progress, and writes the files that the options name. In ndjson and csv each source
 * is printed as soon as it is checked; when their reader has closed the pipe, and there are no files to write, the checks end.
 */
export async function runSourceInventory(input: RunSourceInventoryInput): Promise<SourceInventoryRunResult> {
  const { io, inventory } = input;
  for (const file of inventory.reports) requireWritableFile(file);
  const entries = await readEntries(input);
  const startedAt = io.host.clock.now();
  const files = createInventoryFileFailures();
  try {
    // The files are written before the signals are left to the system, because a process whose reader is gone ends then.
    const report = await runUntilSignal(io.host.signals, 'the inventory was cancelled', async (cancelled) => {
      const unprinted = new AbortController();
      const ends = [cancelled, unprinted.signal, ...(endsWithReader(input) ? [readerGone(io)] : [])];
      const signal = AbortSignal.any(ends);
      const builder = createSourceInventoryReportBuilder();
      const checker = createSourceChecker(input, entries, files, signal);
      const showCount = (done: number) => void io.progress.show(`${done} of ${entries.length} sources checked`);
      showCount(0);
      const outcomes = streamPushedItems<InventorySourceOutcome>(async (push) => {
        let done = 0;
        await checkSourceInventory(entries, checker, inventory, async (outcome) => {
          builder.add(outcome);
          showCount(++done);
          await push(outcome);
        });
      });
      await printOutcomes(io, outcomes).catch((error: unknown) => {
        // Results that cannot be printed, such as on a full disk, end the checks.
        unprinted.abort();
        throw error;
      });
      cancelled.throwIfAborted();
      const finished = builder.finish(startedAt, io.host.clock.now());
      for (const file of inventory.reports)
        files.attempt(() => writeReportFile(file, renderSourceInventoryReport(file, finished) ?? ''));
      return finished;
    });
    return { report, fileError: files.error() };
  } finally {
    await io.progress.stop();
  }
}

/** Whether the results go to standard output only, so that the run is pointless once its reader has closed the pipe. */
function endsWithReader({ io, inventory }: RunSourceInventoryInput): boolean {
  const { reports, reportDir, baseline } = inventory;
  return isStreamed(io) && reports.length === 0 && reportDir === undefined && baseline === undefined;
}

function isStreamed({ output }: CommandIo): boolean {
  return output.format === 'ndjson' || output.format === 'csv';
}

function readerGone({ host }: CommandIo): AbortSignal {
  return host.stdout.closed ?? new AbortController().signal;
}

async function readEntries({ io, args, settings, inventory }: RunSourceInventoryInput) {
  const { bytes, ...refusals } = await readSourcesFile(inventory.file, io.host);
  const { env, clock } = io.host;
  const readText = createCertificateFileReader();
  const { entries, bad } = parseSourceInventory(bytes, {
    ...refusals,
    args,
    settings,
    env,
    readText,
    now: clock.now(),
  });
  if (bad.length > 0) await refuseBadLines(io, inventory.file, bad);
  if (entries.length === 0)
    throw usageError('the inventory has no source', 'write a URL or a service name on each line');
  return entries;
}

/** Prints every invalid line of the inventory; the detail of an error would be cut off. */
async function refuseBadLines({ output }: CommandIo, path: string, bad: readonly BadSourcesFileLine[]): Promise<never> {
  const from = path === '-' ? 'standard input' : path;
  for (const { line, reason } of bad) await output.show(`${from}:${line}: ${reason}`);
  throw usageError(
    `${bad.length} ${bad.length === 1 ? 'line' : 'lines'} of ${from} cannot be used; nothing was checked`,
    'correct the lines above, and run the command again',
  );
}

function createSourceChecker(
  { io, args, inventory }: RunSourceInventoryInput,
  entries: readonly SourceInventoryEntry[],
  files: InventoryFileFailures,
  signal: AbortSignal,
): InventorySourceCheckDeps {
  const { host, output } = io;
  const { baseline, reportDir } = inventory;
  return {
    postgresql: createInventoryPostgresqlEngineFactory({
      named: databasesByUser(entries),
      connections: inventory.perServer,
    }),
    redis: createInventoryRedisEngineFactory(),
    env: host.env,
    platform: host.platform,
    clock: host.clock,
    signal,
    deadline: inventory.deadline,
    baselines: baseline === undefined ? undefined : openPerSourceFileFolder(baseline, '--baseline'),
    reports: reportDir === undefined ? undefined : openPerSourceFileFolder(reportDir, '--report-dir'),
    files,
    schemas: createPerServerSchemaFingerprintsCache(),
    onQuery(name, place, text) {
      if (args.has('show-queries'))
        void output.show(`query sent to ${name}, ${place}: ${text}`, maxSanitizedTextLength);
    },
  };
}

/** Returns a function that finds, for a user name, the databases of the sources with this user and the scope `database`. */
function databasesByUser(entries: readonly SourceInventoryEntry[]): (username: string) => ReadonlySet<string> {
  const names = new Map<string, Set<string>>();
  for (const { scope, withPassword } of entries) {
    const { engine, source } = withPassword(undefined);
    if (scope !== 'database' || engine !== 'postgresql') continue;
    names.set(source.username, (names.get(source.username) ?? new Set()).add(source.dbname));
  }
  return (username) => names.get(username) ?? new Set();
}

/** A line of NDJSON. Its JSON Schema is schemas/inventory-source-1.json. */
interface PrintedOutcome extends InventorySourceOutcome {
  readonly schema_version: 1;
  readonly kind: 'inventory_source';
}

/** Prints each outcome as one line: on a terminal as progress, and on standard output if the output format is ndjson or csv. */
async function printOutcomes(io: CommandIo, outcomes: AsyncIterable<InventorySourceOutcome>): Promise<void> {
  const { host, output } = io;
  async function* rows(): AsyncGenerator<PrintedOutcome> {
    for await (const outcome of outcomes) {
      if (host.stderr.isTTY) await output.note(outcomeLine(outcome));
      yield { schema_version: 1, kind: 'inventory_source', ...outcome };
    }
  }
  if (isStreamed(io)) return output.list(rows(), outcomeView);
  for await (const _ of rows());
}

function outcomeLine({ name, verdict, ok, method, reason, blocked_by: blockedBy }: InventorySourceOutcome): string {
  if (reason !== undefined) return `${name}: not checked, ${reason}`;
  if (ok) return `${name}: ${verdict}`;
  return `${name}: ${method} is not possible (${blockedBy.join(', ')})`;
}

const outcomeView: ListView<InventorySourceOutcome> = {
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
export function buildNotPossibleSourcesError({
  summary,
  fix_first: [first],
}: SourceInventoryReport): CliError | undefined {
  const { sources, not_possible: blocked, not_checked: unchecked } = summary;
  const counts = `of ${countedNoun(sources, 'source')} ${summary.possible} are possible, ${blocked} not, and ${unchecked} were not checked`;
  // The exit code for blocked sources takes precedence over the exit code for sources that were not checked.
  if (blocked > 0)
    return new CliError(
      'preflight_blocked',
      `the requested migration is not possible for ${countedNoun(blocked, 'source')}`,
      {
        detail: counts,
        hint: first === undefined ? 'fix the findings of the report' : `fix first: ${first.ids.join(', ')}`,
      },
    );
  if (unchecked > 0)
    return new CliError('inventory_incomplete', `${countedNoun(unchecked, 'source')} could not be checked`, {
      detail: counts,
      hint: 'the report has the reason of each; run the same command again',
    });
  return undefined;
}

import { CliError, usageError } from '../../base/errors.ts';
import { maxTextLength, printableJson } from '../../base/sanitize.ts';
import { countOf } from '../../base/text.ts';
import type { ListView } from '../../cli/columns.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { runUntilSignal } from '../../platform/waiting.ts';
import { requireWritable, writeReport } from '../preflight/index.ts';
import { type Checker, checkSource } from './check.ts';
import { createCertificateReader, type Entry } from './entry.ts';
import { createFileFailures, type FileFailures, openFolder } from './files.ts';
import { renderHtml } from './formats/html.ts';
import { renderMarkdown } from './formats/markdown.ts';
import { forEachSource } from './limits.ts';
import type { InventoryRun } from './options.ts';
import type { Outcome } from './outcome.ts';
import { createPostgresqlEngines } from './postgresql.ts';
import { createRedisEngines } from './redis.ts';
import { createReportBuilder, type InventoryReport } from './report.ts';
import { createResultCache } from './result-cache.ts';
import { type BadLine, parseSources, readSourcesFile } from './sources-file.ts';

export interface InventoryResult {
  readonly report: InventoryReport;
  /** The error for files that could not be read or written; undefined if there are none. */
  readonly fileError: CliError | undefined;
}

/**
 * Checks all sources of an inventory, shows the progress, and writes the files that the options name. In ndjson and csv each source
 * is printed as soon as it is checked; when their reader has closed the pipe, and there are no files to write, the checks end.
 */
export async function runInventory(input: InventoryRun): Promise<InventoryResult> {
  const { io, inventory } = input;
  for (const file of inventory.reports) requireWritable(file);
  const entries = await readEntries(input);
  const startedAt = io.host.clock.now();
  const files = createFileFailures();
  try {
    // The files are written before the signals are left to the system, because a process whose reader is gone ends then.
    const report = await runUntilSignal(io.host.signals, 'the inventory was cancelled', async (cancelled) => {
      const unprinted = new AbortController();
      const ends = [cancelled, unprinted.signal, ...(endsWithReader(input) ? [readerGone(io)] : [])];
      const signal = AbortSignal.any(ends);
      const builder = createReportBuilder();
      const checker = createSourceChecker(input, entries, files, signal);
      const showCount = (done: number) => void io.progress.show(`${done} of ${entries.length} sources checked`);
      showCount(0);
      const outcomes = streamPushedItems<Outcome>(async (push) => {
        let done = 0;
        await forEachSource(entries, addressOf, inventory, async (entry, slot) => {
          if (signal.aborted) return;
          const outcome = await checkSource(entry, slot, checker);
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
      for (const file of inventory.reports) files.attempt(() => writeReport(file, renderReport(file, finished)));
      return finished;
    });
    return { report, fileError: files.error() };
  } finally {
    await io.progress.stop();
  }
}

/** The report in the format that the file extension selects, which the options have checked. */
export function renderReport(file: string, report: InventoryReport): string {
  const name = file.toLowerCase();
  if (name.endsWith('.md')) return renderMarkdown(report);
  return name.endsWith('.html') ? renderHtml(report) : printableJson(report);
}

/** Whether the results go to standard output only, so that the run is pointless once its reader has closed the pipe. */
function endsWithReader({ io, inventory }: InventoryRun): boolean {
  const { reports, reportDir, baseline } = inventory;
  return isStreamed(io) && reports.length === 0 && reportDir === undefined && baseline === undefined;
}

function isStreamed({ output }: CommandIo): boolean {
  return output.format === 'ndjson' || output.format === 'csv';
}

function readerGone({ host }: CommandIo): AbortSignal {
  return host.stdout.closed ?? new AbortController().signal;
}

async function readEntries({ io, args, settings, inventory }: InventoryRun) {
  const { bytes, ...refusals } = await readSourcesFile(inventory.file, io.host);
  const { env, clock } = io.host;
  const readText = createCertificateReader();
  const { entries, bad } = parseSources(bytes, {
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
async function refuseBadLines({ output }: CommandIo, path: string, bad: readonly BadLine[]): Promise<never> {
  const from = path === '-' ? 'standard input' : path;
  for (const { line, reason } of bad) await output.show(`${from}:${line}: ${reason}`);
  throw usageError(
    `${countOf(bad.length, 'line')} of ${from} cannot be used; nothing was checked`,
    'correct the lines above, and run the command again',
  );
}

function createSourceChecker(
  { io, args, inventory }: InventoryRun,
  entries: readonly Entry[],
  files: FileFailures,
  signal: AbortSignal,
): Checker {
  const { host, output } = io;
  const { baseline, reportDir } = inventory;
  return {
    postgresql: createPostgresqlEngines(entries, inventory.perServer),
    redis: createRedisEngines(),
    host,
    signal,
    deadline: inventory.deadline,
    baselines: baseline === undefined ? undefined : openFolder(baseline, '--baseline'),
    reports: reportDir === undefined ? undefined : openFolder(reportDir, '--report-dir'),
    files,
    schemas: createResultCache((all) => Object.keys(all ?? {}).length, 100_000),
    onQuery(name, place, text) {
      if (args.has('show-queries')) void output.show(`query sent to ${name}, ${place}: ${text}`, maxTextLength);
    },
  };
}

/** A line of NDJSON. Its JSON Schema is schemas/inventory-source-1.json. */
interface PrintedOutcome extends Outcome {
  readonly schema_version: 1;
  readonly kind: 'inventory_source';
}

/** Prints each outcome as one line: on a terminal as progress, and on standard output if the output format is ndjson or csv. */
async function printOutcomes(io: CommandIo, outcomes: AsyncIterable<Outcome>): Promise<void> {
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

function outcomeLine({ name, verdict, ok, method, reason, blocked_by: blockedBy }: Outcome): string {
  if (reason !== undefined) return `${name}: not checked, ${reason}`;
  if (ok) return `${name}: ${verdict}`;
  return `${name}: ${method} is not possible (${blockedBy.join(', ')})`;
}

const outcomeView: ListView<Outcome> = {
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
export function inventoryError({ summary, fix_first: [first] }: InventoryReport): CliError | undefined {
  const { sources, not_possible: blocked, not_checked: unchecked } = summary;
  const counts = `of ${countOf(sources, 'source')} ${summary.possible} are possible, ${blocked} not, and ${unchecked} were not checked`;
  // The exit code for blocked sources takes precedence over the exit code for sources that were not checked.
  if (blocked > 0)
    return new CliError(
      'preflight_blocked',
      `the requested migration is not possible for ${countOf(blocked, 'source')}`,
      {
        detail: counts,
        hint: first === undefined ? 'fix the findings of the report' : `fix first: ${first.ids.join(', ')}`,
      },
    );
  if (unchecked > 0)
    return new CliError('inventory_incomplete', `${countOf(unchecked, 'source')} could not be checked`, {
      detail: counts,
      hint: 'the report has the reason of each; run the same command again',
    });
  return undefined;
}

/** Host and port of the server, by which sources of the same server are recognized before any of them is connected. */
function addressOf({ source: { engine, source } }: Entry): string {
  return `${engine}:${source.host.toLowerCase()}:${source.port}`;
}

/**
 * Yields the items that `produce` pushes. `push` waits while a slow reader has not taken the earlier items, so that only a
 * few items are in memory. An error of `produce` is thrown after the items that were pushed before it.
 */
export async function* streamPushedItems<T>(
  produce: (push: (item: T) => Promise<void>) => Promise<void>,
  maxWaiting = 64,
): AsyncGenerator<T> {
  const items: T[] = [];
  const waiting: (() => void)[] = [];
  let isOver = false;
  let wake = (): void => {};
  const work = produce(async (item) => {
    items.push(item);
    wake();
    while (items.length >= maxWaiting && !isOver) await new Promise<void>((resolve) => waiting.push(resolve));
  }).finally(() => {
    isOver = true;
    wake();
  });
  // Marks the rejection as handled, because the same error is thrown only after all items were yielded.
  work.catch(() => {});
  try {
    for (;;) {
      const next = items.shift();
      if (next !== undefined) {
        waiting.shift()?.();
        yield next;
      } else if (isOver) break;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    await work;
  } finally {
    isOver = true;
    for (const go of waiting) go();
  }
}

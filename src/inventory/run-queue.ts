import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { ParsedArgs } from '../cli/command.ts';
import { readInputFile } from '../cli/input-file.ts';
import { usageError } from '../errors.ts';
import { isJsonRecord, parseJson, readStringList } from '../json.ts';
import { entryAddress } from './check-inventory.ts';
import { checkInventorySource, type SourceChecker } from './check-inventory-source.ts';
import { decodeInventoryCells, decodeSourceOutcome } from './decode-source-outcome.ts';
import { buildInventoryEntry, type InventoryEntry, type InventoryEntryInput } from './inventory-entry.ts';
import { createInventoryQueue, type InventoryQueue, type QueueContents } from './inventory-queue.ts';
import type { InventoryReportBuilder } from './inventory-report.ts';
import { checkOptionNames, type RunInventoryInput } from './inventory-settings.ts';
import { openQueueSession, readQueueSource } from './queue-session.ts';
import type { SourceOutcome } from './source-outcome.ts';
import { workQueue } from './work-queue.ts';

export interface QueueRun {
  readonly input: RunInventoryInput;
  readonly signal: AbortSignal;
  /** The sources of `--sources`; undefined if another machine has filled the queue. */
  readonly entries: readonly InventoryEntry[] | undefined;
  readonly entryInput: InventoryEntryInput;
  readonly createChecker: (entries: readonly InventoryEntry[]) => SourceChecker;
  readonly builder: InventoryReportBuilder;
  readonly onOutcome: (outcome: SourceOutcome) => Promise<void>;
  readonly onProgress: (finished: number, total: number) => void;
}

/**
 * Fills the queue, or joins it, works on it until all sources have an outcome, and adds the outcomes of all machines to the report.
 */
export async function runQueue(run: QueueRun): Promise<void> {
  const { input, signal, builder } = run;
  const { io, inventory } = input;
  const { clock, env, platform, random } = io.host;
  const source = readQueueSource(env, platform, readInputFile);
  const session = openQueueSession(source, { clock, signal });
  const holder = `${hostname()}:${process.pid}:${Buffer.from(random(6)).toString('hex')}`;
  const name = inventory.queue ?? '';
  const queue = createInventoryQueue(session.send, { name, holder, lease: inventory.lease });
  try {
    const entries = await openQueue(run, queue, holder);
    const checker = run.createChecker([...entries.values()]);
    await workQueue({
      queue,
      clock,
      signal,
      lease: inventory.lease,
      parallel: inventory.parallel,
      perServer: inventory.perServer,
      addressOf: (line) => entryAddress(requireEntry(entries, line)),
      check: (line, slot) => checkInventorySource(requireEntry(entries, line), slot, checker),
      onOutcome: run.onOutcome,
      onProgress: (finished) => run.onProgress(finished, entries.size),
    });
    if (!signal.aborted) await readOutcomes(queue, builder);
  } finally {
    await session.end();
  }
}

async function openQueue(
  { entries, entryInput, input }: QueueRun,
  queue: InventoryQueue,
  createdBy: string,
): Promise<ReadonlyMap<number, InventoryEntry>> {
  const given = entries === undefined ? undefined : describeContents(entries, input.args);
  if (given !== undefined && entries !== undefined) {
    const rows = entries.map((entry) => ({
      line: entry.line,
      address: entryAddress(entry),
      cells: JSON.stringify(entry.cells),
    }));
    await queue.fill(given, createdBy, rows);
  }
  const stored = await queue.contents();
  const name = input.inventory.queue ?? '';
  if (stored === undefined)
    throw usageError(`the queue ${name} does not exist`, 'fill it from one machine with `--sources FILE`');
  if (given !== undefined && given.fingerprint !== stored.fingerprint)
    throw usageError(
      `the queue ${name} has other sources or options`,
      'use another name, or leave out `--sources` to join the queue',
    );
  if (entries !== undefined) return new Map(entries.map((entry) => [entry.line, entry]));
  const args = storedArgs(stored.options, entryInput.args);
  const rows = await queue.sources();
  return new Map(
    rows.map(({ line, cells }): [number, InventoryEntry] => {
      const decoded = decodeInventoryCells(cells);
      if (decoded === undefined) throw usageError(`the source of line ${line} in the queue is not valid`, refill);
      return [line, buildInventoryEntry(decoded, line, { ...entryInput, args })];
    }),
  );
}

const refill = 'fill a new queue with `--sources FILE`';

function describeContents(entries: readonly InventoryEntry[], args: ParsedArgs): QueueContents {
  const given = checkOptionNames.filter((name) => args.has(name));
  const options = JSON.stringify(Object.fromEntries(given.map((name) => [name, args.values(name)])));
  const cells = entries.map(({ line, cells: own }) => [line, own]);
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([options, cells]))
    .digest('hex');
  return { fingerprint, options, total: entries.length };
}

/** The options that the queue was filled with, together with those of this machine that the queue does not decide. */
function storedArgs(text: string, own: ParsedArgs): ParsedArgs {
  const json = parseJson(text);
  const record = json.ok && isJsonRecord(json.value) ? json.value : {};
  const values = (option: string) =>
    checkOptionNames.includes(option) ? readStringList(record[option]) : own.values(option);
  return {
    positionals: [],
    values,
    value: (option) => values(option).at(-1),
    has: (option) => (checkOptionNames.includes(option) ? option in record : own.has(option)),
  };
}

async function readOutcomes(queue: InventoryQueue, builder: InventoryReportBuilder): Promise<void> {
  for (let line = -1; ; ) {
    const page = await queue.outcomes(line, 100);
    for (const { outcome } of page) {
      const decoded = decodeSourceOutcome(outcome);
      if (decoded === undefined) throw usageError('the queue has an outcome that is not valid', refill);
      builder.add(decoded);
    }
    if (page.length === 0) return;
    line = page.at(-1)?.line ?? line;
  }
}

function requireEntry(entries: ReadonlyMap<number, InventoryEntry>, line: number): InventoryEntry {
  const entry = entries.get(line);
  if (entry === undefined) throw usageError(`the queue has the unknown line ${line}`, refill);
  return entry;
}

import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { usageError } from '../base/errors.ts';
import { isJsonRecord, readStringList, tryParseJson } from '../base/json.ts';
import type { ParsedArgs } from '../cli/command.ts';
import { readFileNamedByUser } from '../cli/read-file-named-by-user.ts';
import { checkInventorySource, type InventorySourceCheckDeps } from './check-inventory-source.ts';
import { checkQueuedSources } from './check-queued-sources.ts';
import { buildInventoryServerAddress } from './check-source-inventory.ts';
import { decodeInventorySourceOutcome, decodeSourceInventoryCellsFromJson } from './decode-inventory-source-outcome.ts';
import type { InventorySourceOutcome } from './inventory-source-outcome.ts';
import {
  createInventoryWorkQueue,
  type InventoryWorkQueue,
  type InventoryWorkQueueContents,
} from './inventory-work-queue.ts';
import { openQueueDatabaseSession, readInventoryQueueServerFromEnvironment } from './inventory-work-queue-session.ts';
import {
  buildSourceInventoryEntry,
  type SourceInventoryEntry,
  type SourceInventoryEntryInput,
} from './source-inventory-entry.ts';
import type { SourceInventoryReportBuilder } from './source-inventory-report.ts';
import { inventoryCheckOptionNames, type RunSourceInventoryInput } from './source-inventory-settings.ts';

export interface RunInventoryWorkQueueOptions {
  readonly input: RunSourceInventoryInput;
  readonly signal: AbortSignal;
  /** The sources of `--sources`; undefined if another machine has filled the queue. */
  readonly entries: readonly SourceInventoryEntry[] | undefined;
  readonly entryInput: SourceInventoryEntryInput;
  readonly createChecker: (entries: readonly SourceInventoryEntry[]) => InventorySourceCheckDeps;
  readonly builder: SourceInventoryReportBuilder;
  readonly onOutcome: (outcome: InventorySourceOutcome) => Promise<void>;
  readonly onProgress: (finished: number, total: number) => void;
}

/**
 * Fills the queue unless another machine has filled it, checks sources of the queue until every source has an outcome, and
 * adds the outcomes of all machines to the report.
 */
export async function runInventoryWorkQueue(run: RunInventoryWorkQueueOptions): Promise<void> {
  const { input, signal, builder } = run;
  const { io, inventory } = input;
  const { clock, env, platform, random } = io.host;
  const source = readInventoryQueueServerFromEnvironment(env, platform, readFileNamedByUser);
  const session = openQueueDatabaseSession(source, { clock, signal });
  const holder = `${hostname()}:${process.pid}:${Buffer.from(random(6)).toString('hex')}`;
  const name = inventory.queue ?? '';
  const queue = createInventoryWorkQueue(session.send, { name, holder, lease: inventory.lease });
  try {
    const entries = await openQueue(run, queue, holder);
    const checker = run.createChecker([...entries.values()]);
    await checkQueuedSources({
      queue,
      clock,
      signal,
      lease: inventory.lease,
      parallel: inventory.parallel,
      perServer: inventory.perServer,
      addressOf: (line) => buildInventoryServerAddress(requireEntry(entries, line)),
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
  { entries, entryInput, input }: RunInventoryWorkQueueOptions,
  queue: InventoryWorkQueue,
  createdBy: string,
): Promise<ReadonlyMap<number, SourceInventoryEntry>> {
  const given = entries === undefined ? undefined : describeContents(entries, input.args);
  if (given !== undefined && entries !== undefined) {
    const rows = entries.map((entry) => ({
      line: entry.line,
      address: buildInventoryServerAddress(entry),
      cells: JSON.stringify(entry.cells),
    }));
    await queue.fill(given, createdBy, rows);
  }
  const stored = await queue.contents();
  const name = input.inventory.queue ?? '';
  if (stored === undefined)
    throw usageError(`the queue ${name} does not exist`, 'fill the queue from one machine with `--sources FILE`');
  if (given !== undefined && given.fingerprint !== stored.fingerprint)
    throw usageError(
      `the queue ${name} has other sources or options`,
      'use another name, or leave out `--sources` to join the queue',
    );
  if (entries !== undefined) return new Map(entries.map((entry) => [entry.line, entry]));
  const args = storedArgs(stored.options, entryInput.args);
  const rows = await queue.sources();
  return new Map(
    rows.map(({ line, cells }): [number, SourceInventoryEntry] => {
      const decoded = decodeSourceInventoryCellsFromJson(cells);
      if (decoded === undefined) throw usageError(`the source of line ${line} in the queue is not valid`, refill);
      return [line, buildSourceInventoryEntry(decoded, line, { ...entryInput, args })];
    }),
  );
}

const refill = 'fill a new queue with `--sources FILE`';

function describeContents(entries: readonly SourceInventoryEntry[], args: ParsedArgs): InventoryWorkQueueContents {
  const given = inventoryCheckOptionNames.filter((name) => args.has(name));
  const options = JSON.stringify(Object.fromEntries(given.map((name) => [name, args.values(name)])));
  const cells = entries.map(({ line, cells: own }) => [line, own]);
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([options, cells]))
    .digest('hex');
  return { fingerprint, options, total: entries.length };
}

/** Combines the check options that the queue stores with the other command-line options of this machine. */
function storedArgs(text: string, own: ParsedArgs): ParsedArgs {
  const json = tryParseJson(text);
  const record = json.ok && isJsonRecord(json.value) ? json.value : {};
  const values = (option: string) =>
    inventoryCheckOptionNames.includes(option) ? readStringList(record[option]) : own.values(option);
  return {
    positionals: [],
    values,
    value: (option) => values(option).at(-1),
    has: (option) => (inventoryCheckOptionNames.includes(option) ? option in record : own.has(option)),
  };
}

async function readOutcomes(queue: InventoryWorkQueue, builder: SourceInventoryReportBuilder): Promise<void> {
  for (let line = -1; ; ) {
    const page = await queue.outcomes(line, 100);
    for (const { outcome } of page) {
      const decoded = decodeInventorySourceOutcome(outcome);
      if (decoded === undefined) throw usageError('the queue has an outcome that is not valid', refill);
      builder.add(decoded);
    }
    if (page.length === 0) return;
    line = page.at(-1)?.line ?? line;
  }
}

function requireEntry(entries: ReadonlyMap<number, SourceInventoryEntry>, line: number): SourceInventoryEntry {
  const entry = entries.get(line);
  if (entry === undefined) throw usageError(`the queue has the unknown line ${line}`, refill);
  return entry;
}

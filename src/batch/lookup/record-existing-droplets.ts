import type { Droplet } from '../../api/droplets.ts';
import { CliError } from '../../errors.ts';
import type { Clock } from '../../platform/host.ts';
import type { BatchLedger } from '../ledger/batch-ledger.ts';
import {
  type BatchDescriptionLedgerEvent,
  type DropletsBeforeBatchLedgerEvent,
  formatBatchLedgerTimestamp,
} from '../ledger/batch-ledger-event.ts';
import type { RateLimitedSender } from '../sending/rate-limited-sender.ts';
import { describeDropletDifference } from './candidate-droplets.ts';
import type { DropletByNameFinder } from './droplet-by-name-finder.ts';
import type { DropletsByNameLookupResult } from './shared-droplet-scan.ts';

export interface RecordExistingDropletsDeps {
  readonly ledger: Pick<BatchLedger, 'commit' | 'state'>;
  readonly lane: RateLimitedSender;
  readonly lookup: DropletByNameFinder;
  readonly clock: Clock;
  readonly ending: AbortSignal;
}

const maxAttempts = 3;

/**
 * Records the droplets that have one of the names before any droplet is requested. The baseline is synced to the disk when the
 * promise resolves; a resumed batch keeps its baseline.
 */
export async function recordExistingDroplets({
  ledger,
  lane,
  lookup,
  clock,
  ending,
}: RecordExistingDropletsDeps): Promise<DropletsBeforeBatchLedgerEvent> {
  const { batch, baseline, hasName } = ledger.state;
  const known = baseline();
  if (known !== undefined) return known;
  const { droplets } = await repeatLookupUntilConclusive(() =>
    lookup.find({ names: batch.names, has: hasName }, ending),
  );
  const event = buildExistingDropletsEvent(droplets, { clock, lane, batch });
  await ledger.commit(event);
  return event;
}

export function buildExistingDropletsEvent(
  droplets: ReadonlyMap<string, readonly Droplet[]>,
  {
    clock,
    lane,
    batch,
  }: Pick<RecordExistingDropletsDeps, 'clock' | 'lane'> & { readonly batch: BatchDescriptionLedgerEvent },
): DropletsBeforeBatchLedgerEvent {
  const existing = [...droplets].filter(([, found]) => found.length > 0);
  return {
    event: 'baseline',
    at: formatBatchLedgerTimestamp(clock),
    server_date: lane.serverTime(),
    existing: Object.fromEntries(existing.map(([name, found]) => [name, found.map(({ id }) => id)])),
    ...(batch.if_exists === 'skip' ? { differences: differencesOf(existing, batch) } : {}),
  };
}

function differencesOf(
  existing: readonly (readonly [string, readonly Droplet[]])[],
  { attributes }: BatchDescriptionLedgerEvent,
) {
  const texts = existing.map(
    ([name, [first]]) => [name, describeDropletDifference(first?.raw ?? {}, attributes)] as const,
  );
  return Object.fromEntries(texts.filter(([, difference]) => difference !== ''));
}

/** Repeats a lookup until it is conclusive, and returns its result. Throws `incomplete_list` when no lookup is conclusive. */
export async function repeatLookupUntilConclusive<
  T extends Pick<DropletsByNameLookupResult, 'conclusive' | 'hasTotal'>,
>(find: () => Promise<T>): Promise<T> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const found = await find();
    if (!found.hasTotal) throw missingTotalError();
    if (found.conclusive) return found;
  }
  throw new CliError('incomplete_list', 'could not read which names are in use', {
    detail: `the list of droplets changed during each of ${maxAttempts} readings`,
    hint: 'run the command again',
  });
}

/** Without a total it cannot be known whether the list is complete, however often it is read. */
function missingTotalError(): CliError {
  return new CliError('incomplete_list', 'could not read which names are in use', {
    detail: 'the response of GET /v2/droplets has no `meta.total`',
    hint: 'check that base_url is the resource API: `cloudctl api GET /v2/droplets`',
  });
}

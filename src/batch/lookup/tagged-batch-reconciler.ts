import type { Droplet } from '../../api/droplets.ts';
import { CliError } from '../../errors.ts';
import { latestArrivalOfEarlierRequests } from '../create-missing-droplets.ts';
import type { BatchLedger } from '../ledger/batch-ledger.ts';
import { formatBatchLedgerTimestamp, type LedgerCreatedDroplet } from '../ledger/batch-ledger-event.ts';
import type { BatchLedgerState } from '../ledger/batch-ledger-state.ts';
import type { RateLimitedSender } from '../sending/rate-limited-sender.ts';
import {
  addDropletIfBatchTagged,
  type BatchTaggedDropletLookupResult,
  type BatchTaggedDroplets,
  createEmptyBatchTaggedDroplets,
  differentBatchError,
  findBatchTaggedDroplets,
} from './batch-tagged-droplets.ts';
import type { DropletByNameFinder } from './droplet-by-name-finder.ts';
import { buildExistingDropletsEvent, repeatLookupUntilConclusive } from './record-existing-droplets.ts';
import type { ResolveUncertainRequestDeps } from './resolve-uncertain.ts';

export interface TaggedBatchReconcilerDeps extends Omit<ResolveUncertainRequestDeps, 'ledger'> {
  readonly ledger: BatchLedger;
  readonly lane: RateLimitedSender;
  readonly lookup: DropletByNameFinder;
  /** Called with names whose droplet was found by the tag of the batch and recorded as created (adopted). */
  readonly onAdopted: (names: readonly string[]) => Promise<void>;
  /**
   * Called before names without a droplet are looked up again. @param names number of these names @param ms milliseconds
   * until the last lookup
   */
  readonly onDoubt: (names: number, ms: number) => Promise<void>;
}

/** Finds and records the existing droplets of a batch with `--batch-id` before any droplet is requested. */
export interface TaggedBatchReconciler {
  /**
   * Records the droplets that already have the names (the baseline), and records droplets with the tag of the batch as
   * created.
   */
  begin(): Promise<void>;
  /**
   * Waits until two lookups, some time apart, find no droplet with the missing names, because another machine may have sent
   * them. A droplet that appears with one of these names is recorded as created by this batch.
   */
  resolveMissing(): Promise<void>;
  /** The time in milliseconds of the last lookup for droplets that an earlier run on another machine may have requested. */
  readonly lastLookupAt: () => number;
}

/** A droplet that was created this recently, by the server's clock, may belong to a run that has only just ended. */
const recentMs = 600_000;

export function createTaggedBatchReconciler(deps: TaggedBatchReconcilerDeps): TaggedBatchReconciler {
  const { ledger, lane, lookup, clock, timings, ending } = deps;
  const { state } = ledger;
  const startedAt = clock.now();
  /** False after a lookup by name found a droplet that the lookup by tag did not contain. */
  let isTagFilterTrusted = true;
  let hasRecent = false;

  const findByName = async (names: readonly string[], tagged: BatchTaggedDroplets) => {
    const droplets = await repeatLookupUntilConclusive(() => lookup.find({ names, has: state.hasName }, ending));
    const untagged = new Map<string, readonly Droplet[]>();
    for (const [name, found] of droplets.droplets) {
      const left = found.filter((droplet) => !addDropletIfBatchTagged(state, tagged, droplet));
      if (left.length > 0) untagged.set(name, left);
    }
    return untagged;
  };
  const find = async (): Promise<BatchTaggedDroplets> => {
    const { droplets } = await repeatLookupUntilConclusive(() => findBatchTaggedDroplets(lane, state, ending));
    if (!isTagFilterTrusted) await findByName(state.missing(), droplets);
    return droplets;
  };
  const adopt = async (tagged: BatchTaggedDroplets): Promise<void> => {
    if (tagged.foreign.length > 0) throw differentBatchError(state, tagged.foreign);
    const serverTime = Date.parse(lane.serverTime() ?? '');
    hasRecent ||= tagged.newest > serverTime - recentMs;
    await deps.onAdopted(recordTagged(tagged, deps));
  };
  return {
    async begin() {
      const tagged = await find();
      const isNew = state.baseline() === undefined;
      try {
        await adopt(tagged);
        if (!isNew) return;
        const before = createEmptyBatchTaggedDroplets();
        const untagged = await findByName(state.missing(), before);
        isTagFilterTrusted = before.own.size === 0;
        await adopt(before);
        await ledger.commit(buildExistingDropletsEvent(untagged, { ...deps, batch: state.batch }));
      } catch (error) {
        // After a usage error the new ledger is discarded, because no request was sent.
        if (isNew && error instanceof CliError && error.code === 'usage') await ledger.discard();
        throw error;
      }
    },
    async resolveMissing() {
      const missing = state.missing().length;
      if (missing === 0) return;
      const endedAt = latestArrivalOfEarlierRequests(ledger.replaced ?? state, { clock, timings });
      const first = endedAt + timings.settleDelay - clock.now();
      await deps.onDoubt(missing, first + timings.lookupInterval);
      for (const wait of [first, timings.lookupInterval]) {
        await clock.sleep(Math.max(0, wait), ending);
        await adopt(await find());
        if (state.missing().length === 0) return;
      }
    },
    lastLookupAt: () => (hasRecent ? startedAt + timings.orphanLimit : startedAt),
  };
}

export interface DuplicateDropletsReport {
  readonly names: readonly string[];
  /** Whether the server lists droplets of the batch by their tag. */
  readonly hasTagged: boolean;
}

/**
 * After all requests were sent, searches for droplets of the batch that have the same name. The result of a name with several
 * droplets becomes `unknown`, its row lists their ids, and the name is never sent again.
 */
export async function findAndRecordDuplicateDroplets(
  deps: Pick<TaggedBatchReconcilerDeps, 'ledger' | 'lane' | 'clock' | 'timings' | 'ending'>,
): Promise<DuplicateDropletsReport> {
  const { state } = deps.ledger;
  const { droplets } = await findTaggedAtEnd(deps);
  const several = [...droplets.own]
    .map(([at, ids]) => [at, withRowId(state, at, ids)] as const)
    .filter(([, ids]) => ids.length > 1);
  recordTagged({ ...droplets, own: new Map(several) }, deps);
  return { names: several.map(([at]) => state.batch.names[at] ?? ''), hasTagged: droplets.own.size > 0 };
}

const maxAttempts = 4;

/** Searches for duplicates at the end of the batch. An error is retried, because no later step would find the duplicates. */
async function findTaggedAtEnd({
  ledger,
  lane,
  clock,
  timings,
  ending,
}: Parameters<typeof findAndRecordDuplicateDroplets>[0]): Promise<BatchTaggedDropletLookupResult> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await repeatLookupUntilConclusive(() => findBatchTaggedDroplets(lane, ledger.state, ending));
    } catch (error) {
      const isFinal = !(error instanceof CliError) || error.exitCode === 4 || attempt === maxAttempts;
      if (isFinal || ending.aborted) throw error;
      await clock.sleep(timings.lookupInterval, ending);
    }
  }
}

/** Adds the droplet id of the ledger row to the ids that a lookup found, because an outdated list may lack that droplet. */
function withRowId(state: BatchLedgerState, at: number, ids: readonly number[]): readonly number[] {
  const row = state.rowAt(at);
  return row.status === 'created' && !ids.includes(row.id) ? [...ids, row.id] : ids;
}

/** Records the droplets of the batch that a lookup found; returns the names whose rows have changed. */
function recordTagged(
  { own }: Pick<BatchTaggedDroplets, 'own'>,
  { ledger, clock }: Pick<TaggedBatchReconcilerDeps, 'ledger' | 'clock'>,
): readonly string[] {
  const { state } = ledger;
  const at = formatBatchLedgerTimestamp(clock);
  const rows: LedgerCreatedDroplet[] = [];
  const repeated: string[] = [];
  for (const [position, ids] of own) {
    const row = state.rowAt(position);
    const [id = 0] = ids;
    // Names with an unknown result are looked up together with the group of their request.
    if (row.status === 'unknown') continue;
    if (ids.length > 1) {
      const error = `several droplets match (${row.name}: ${ids.join(', ')})`;
      ledger.record({ event: 'unknown', at, group: state.nextGroup(), names: [row.name], error, resend: false });
      repeated.push(row.name);
    } else if (row.id !== id || row.status !== 'created') rows.push({ name: row.name, id });
  }
  if (rows.length > 0) ledger.record({ event: 'created', at, group: state.nextGroup(), adopted: true, rows });
  return [...rows.map(({ name }) => name), ...repeated];
}

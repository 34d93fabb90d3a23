import type { Droplet } from '../../api/droplets.ts';
import type { ListView } from '../../cli/columns.ts';
import type { BatchLedgerState, BatchResultRow } from '../ledger/batch-ledger-state.ts';
import {
  addDropletIfBatchTagged,
  createEmptyBatchTaggedDroplets,
  findBatchTaggedDroplets,
} from '../lookup/batch-tagged-droplets.ts';
import { describeDropletDifference } from '../lookup/candidate-droplets.ts';
import type { DropletByNameFinder } from '../lookup/droplet-by-name-finder.ts';
import { repeatLookupUntilConclusive } from '../lookup/record-existing-droplets.ts';
import type { RateLimitedSender } from '../sending/rate-limited-sender.ts';

/** The action that a batch would take for one name. */
export interface BatchPlanRow {
  readonly name: string;
  readonly status: 'create' | 'exists' | 'differs';
  readonly id?: number;
  readonly difference?: string;
}

export const batchPlanListView: ListView<BatchPlanRow> = {
  columns: [
    { name: 'Name', value: (row) => row.name },
    { name: 'Status', value: (row) => row.status },
    { name: 'ID', value: (row) => row.id },
    { name: 'Difference', value: (row) => row.difference },
  ],
};

export interface BatchPlanDeps {
  readonly lane: RateLimitedSender;
  readonly lookup: DropletByNameFinder;
  readonly signal: AbortSignal;
}

/**
 * Compares the names of a batch with the droplets of the account. Droplets with the tag of the same `--batch-id` that are not
 * in the batch get additional rows at the end.
 */
export async function previewBatchActions(
  state: BatchLedgerState,
  { lane, lookup, signal }: BatchPlanDeps,
): Promise<readonly BatchPlanRow[]> {
  const { batch, hasName } = state;
  const isShared = batch.content_hash !== undefined;
  const tagged = isShared
    ? (await repeatLookupUntilConclusive(() => findBatchTaggedDroplets(lane, state, signal))).droplets
    : createEmptyBatchTaggedDroplets();
  const names = batch.names.filter((_, at) => !tagged.own.has(at));
  const found = await repeatLookupUntilConclusive(() => lookup.find({ names, has: hasName }, signal));
  const untagged = new Map<string, readonly Droplet[]>();
  for (const [name, droplets] of found.droplets)
    untagged.set(
      name,
      droplets.filter((droplet) => !isShared || !addDropletIfBatchTagged(state, tagged, droplet)),
    );
  const foreign = new Map(tagged.foreign.map((one) => [one.id, one]));
  const rows = batch.names.map((name, at): BatchPlanRow => {
    const ids = tagged.own.get(at);
    if (ids !== undefined) return ownRow(name, ids);
    const differing = tagged.foreign.find((one) => one.name === name);
    if (differing !== undefined) {
      foreign.delete(differing.id);
      return { name, status: 'differs', id: differing.id, difference: differing.difference };
    }
    return untaggedRow(state, state.rowAt(at), untagged.get(name) ?? []);
  });
  return [...rows, ...[...foreign.values()].map((one): BatchPlanRow => ({ ...one, status: 'differs' }))];
}

function ownRow(name: string, ids: readonly number[]): BatchPlanRow {
  const [id = 0] = ids;
  if (ids.length === 1) return { name, status: 'exists', id };
  return { name, status: 'differs', id, difference: `several droplets have the tag of this batch: ${ids.join(', ')}` };
}

function untaggedRow({ batch }: BatchLedgerState, row: BatchResultRow, droplets: readonly Droplet[]): BatchPlanRow {
  const { name } = row;
  if (row.status === 'created') {
    if (droplets.some(({ id }) => id === row.id)) return { name, status: 'exists', id: row.id };
    return {
      name,
      status: 'differs',
      id: row.id,
      difference: 'the droplet that the ledger names does not exist any more',
    };
  }
  const [first, ...others] = droplets;
  if (first === undefined || batch.if_exists === 'create') return { name, status: 'create' };
  const several = others.length === 0 ? [] : [`${droplets.length} droplets have this name`];
  const differences = [...new Set(droplets.map(({ raw }) => describeDropletDifference(raw, batch.attributes)))];
  const difference = [...several, ...differences.filter((one) => one !== '')].join('; ');
  if (difference === '') return { name, status: 'exists', id: first.id };
  return { name, status: 'differs', id: first.id, difference };
}

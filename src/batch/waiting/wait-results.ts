import type { BatchResultRow, BatchStatusCounts } from '../ledger/batch-ledger-state.ts';

/** The results of `--wait` for created droplets, by droplet id. In the ledger these droplets keep the status `created`. */
export interface DropletWaitResults {
  readonly addresses: Map<number, string>;
  /** The reason why a droplet cannot become active: it was deleted, or its create action failed. */
  readonly failures: Map<number, string>;
}

export function createDropletWaitResults(): DropletWaitResults {
  return { addresses: new Map(), failures: new Map() };
}

/** Adds the IP address of the droplet to the row; the row becomes `failed` when the droplet cannot become active. */
export function batchRowAfterWait(row: BatchResultRow, { addresses, failures }: DropletWaitResults): BatchResultRow {
  if (row.status !== 'created') return row;
  const error = failures.get(row.id);
  if (error !== undefined) return { ...row, status: 'failed', error };
  const address = addresses.get(row.id);
  return address === undefined ? row : { ...row, public_ipv4: address };
}

export function applyWaitFailuresToStatusCounts(
  counts: BatchStatusCounts,
  { failures }: DropletWaitResults,
): BatchStatusCounts {
  return { ...counts, created: counts.created - failures.size, failed: counts.failed + failures.size };
}

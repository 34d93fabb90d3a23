import type { DropletsBeforeBatchLedgerEvent } from '../ledger/batch-ledger-event.ts';

/**
 * The row of a name that was skipped because of `--if-exists skip`. `difference` describes how the existing droplet differs
 * from the batch.
 */
export interface SkippedExistingDropletRow {
  readonly name: string;
  readonly status: 'skipped';
  readonly id?: number;
  readonly difference?: string;
}

/** @param id the droplet id; 0 when it is not known */
export function skippedDropletRow(
  name: string,
  id: number,
  baseline: DropletsBeforeBatchLedgerEvent | undefined,
): SkippedExistingDropletRow {
  const differences = baseline?.differences ?? {};
  const difference = Object.hasOwn(differences, name) ? differences[name] : undefined;
  return {
    name,
    status: 'skipped',
    ...(id === 0 ? {} : { id }),
    ...(difference === undefined ? {} : { difference }),
  };
}

/** A sentence that lists the differences of skipped droplets; undefined when there are none. */
export function describeSkippedDropletDifferences(rows: Iterable<{ readonly status: string }>): string | undefined {
  const found = [...rows].filter(
    (row): row is SkippedExistingDropletRow =>
      row.status === 'skipped' && 'difference' in row && row.difference !== undefined,
  );
  if (found.length === 0) return undefined;
  const listed = found.slice(0, 20).map(({ name, id, difference }) => `${name} (${id}): ${difference}`);
  const more = found.length > listed.length ? `; and ${found.length - listed.length} more` : '';
  return `Skipped droplets that differ from the options: ${listed.join('; ')}${more}.`;
}

import { existsSync } from 'node:fs';
import type { ParsedArgs } from '../cli/command.ts';
import type { BatchIo } from './batch-io.ts';
import type { BatchLedger } from './ledger/batch-ledger.ts';
import type { BatchResultRow } from './ledger/batch-ledger-state.ts';

/**
 * A creation of one droplet without batch options: the ledger is deleted once the result is proven, and its path is printed
 * only if the file stays.
 */
export function isSingleCreationWithoutBatchOptions({ state }: Pick<BatchLedger, 'state'>, args: ParsedArgs): boolean {
  const named = ['resume', 'ledger', 'batch-id', 'mark'];
  return state.batch.names.length === 1 && !named.some((option) => args.has(option));
}

/** A complete creation response names the droplet and its action; a droplet that a lookup found has no action. */
export function isDropletCreationProven(row: BatchResultRow): boolean {
  return row.status === 'skipped' || (row.status === 'created' && row.action_id !== undefined);
}

/** Prints the path of the ledger, unless no request was sent and the file is deleted. */
export async function printBatchLedgerPath(
  { output }: Pick<BatchIo, 'output'>,
  { path }: Pick<BatchLedger, 'path'>,
): Promise<void> {
  if (existsSync(path)) await output.show(`ledger: ${path}`);
}

/** @param hasSucceeded no error stopped the run, and the row of the droplet was printed */
export async function deleteProvenLedgerOrPrintPath(
  io: Pick<BatchIo, 'output'>,
  ledger: BatchLedger,
  hasSucceeded: boolean,
): Promise<void> {
  if (hasSucceeded && isDropletCreationProven(ledger.state.rowAt(0))) await ledger.discard();
  else await printBatchLedgerPath(io, ledger);
}

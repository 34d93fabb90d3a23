import { existsSync } from 'node:fs';
import type { ParsedArgs } from '../cli/command.ts';
import type { BatchIo } from './batch-io.ts';
import type { BatchResultRow } from './ledger/batch-state.ts';
import type { Ledger } from './ledger/ledger.ts';

/**
 * A creation of one droplet without batch options: the ledger is deleted once the result is proven, and its path is printed
 * only if the file stays.
 */
export function isSingleCreation({ state }: Pick<Ledger, 'state'>, args: ParsedArgs): boolean {
  const named = ['resume', 'ledger', 'batch-id', 'mark'];
  return state.batch.names.length === 1 && !named.some((option) => args.has(option));
}

/** A complete response names the droplet and its action; one that a lookup found has no action. */
export function isCreationProven(row: BatchResultRow): boolean {
  return row.status === 'skipped' || (row.status === 'created' && row.action_id !== undefined);
}

/** Prints where the ledger is, unless nothing was sent and the file is gone. */
export async function printLedgerPath(
  { output }: Pick<BatchIo, 'output'>,
  { path }: Pick<Ledger, 'path'>,
): Promise<void> {
  if (existsSync(path)) await output.show(`ledger: ${path}`);
}

/** @param hasSucceeded no error stopped the run, and the row of the droplet was printed */
export async function endSingleCreation(
  io: Pick<BatchIo, 'output'>,
  ledger: Ledger,
  hasSucceeded: boolean,
): Promise<void> {
  if (hasSucceeded && isCreationProven(ledger.state.rowAt(0))) await ledger.discard();
  else await printLedgerPath(io, ledger);
}

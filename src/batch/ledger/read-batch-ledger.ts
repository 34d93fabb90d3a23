import { existsSync, readFileSync } from 'node:fs';
import { CliError } from '../../errors.ts';
import { decodeBatchLedgerEvent } from './batch-ledger-event.ts';
import { type BatchLedgerState, createBatchLedgerState } from './batch-ledger-state.ts';

/** The content of a ledger file. */
export interface BatchLedgerContent {
  /** The state of the batch, computed from all complete lines of the file. */
  readonly state: BatchLedgerState;
  /** The length of all complete lines in bytes. */
  readonly length: number;
  /** The length of the file in bytes, which is greater when the last line is incomplete. */
  readonly size: number;
}

/** Reads a ledger without acquiring its lock. Throws `config_invalid` for a file that is not a ledger. */
export function readBatchLedger(path: string): BatchLedgerContent {
  const bytes = readFileSync(path);
  const end = bytes.lastIndexOf(0x0a) + 1;
  let state: BatchLedgerState | undefined;
  let number = 0;
  for (let from = 0; from < end; ) {
    const to = bytes.indexOf(0x0a, from);
    const event = decodeBatchLedgerEvent(bytes.toString('utf8', from, to));
    number += 1;
    from = to + 1;
    if (event === undefined || (event.event === 'batch') !== (number === 1)) throw damagedLedgerError(path, number);
    if (event.event === 'batch') state = createBatchLedgerState(event);
    else state?.apply(event);
  }
  if (state === undefined) throw damagedLedgerError(path, 1);
  return { state, length: end, size: bytes.length };
}

/** The state of the batch in a ledger; undefined when the file is missing, cannot be read or is damaged. */
export function readBatchStateIfLedgerValid(path: string): BatchLedgerState | undefined {
  try {
    return existsSync(path) ? readBatchLedger(path).state : undefined;
  } catch {
    return undefined;
  }
}

function damagedLedgerError(path: string, line: number): CliError {
  return new CliError('config_invalid', `the ledger is damaged: line ${line} is not an event`, {
    detail: `${path}:${line}`,
    hint: 'correct this line of the ledger, or delete it if you know its content',
  });
}

import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ParsedArgs } from '../../cli/command.ts';
import { requireNonEmptyValue } from '../../cli/require-non-empty-value.ts';
import { usageError } from '../../errors.ts';
import { readBatchId } from './batch-id.ts';
import { buildBatchLedgerPath } from './batch-ledger.ts';
import type { BatchDescriptionLedgerEvent } from './batch-ledger-event.ts';
import { isResumableBatchLedger } from './batch-ledger-file.ts';

/** The ledger that a run uses: an existing one to resume, or a new one. */
export interface BatchLedgerSelection {
  /** The path of an existing ledger: from `--resume`, or from `--ledger` if that file is a ledger. */
  readonly resumed: string | undefined;
  /** The path at which `--ledger` creates the ledger. */
  readonly created: string | undefined;
}

/** Throws a usage error for options that exclude each other. */
export function readBatchLedgerSelection(args: ParsedArgs): BatchLedgerSelection {
  const resumed = requireNonEmptyValue(args, 'resume', '~/.local/state/cloudctl/batches/3f9c2a61d0b7.jsonl');
  const file = requireNonEmptyValue(args, 'ledger', 'batch.jsonl');
  if (readBatchId(args) !== undefined) {
    const other = ['resume', 'ledger', 'mark'].find((option) => args.has(option));
    if (other !== undefined) throw usageError(`--batch-id and --${other} exclude each other`, hints[other]);
  }
  if (resumed !== undefined && file !== undefined)
    throw usageError(
      '--ledger and --resume exclude each other',
      'use `--ledger`: it resumes the batch when the file exists',
    );
  if (args.has('plan') && args.has('dry-run'))
    throw usageError(
      '--plan and --dry-run exclude each other',
      'use `--plan` to ask the server what exists, or `--dry-run` to print the requests offline',
    );
  if (file === undefined) return { resumed, created: undefined };
  if (isResumableBatchLedger(file)) return { resumed: file, created: undefined };
  // A new ledger replaces an empty file. If the path is a symbolic link, such as /dev/stdout, another program may use the file.
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw usageError(
      '--ledger is a symbolic link to a file that is not a ledger',
      'use the path of a new file, as in `--ledger batch.jsonl`',
      file,
    );
  return { resumed: undefined, created: resolve(file) };
}

const hints: Readonly<Record<string, string>> = {
  resume: 'use `--batch-id` with the names and attributes: it finds the droplets of the batch without a ledger',
  ledger: 'use `--batch-id` to continue on any machine, or `--ledger` to continue where the file is',
  mark: 'omit `--mark`: `--batch-id` tags every droplet',
};

/** The path of the ledger for a batch with `--batch-id`; each profile and server has a separate path. */
export function buildLedgerPathOfUserBatchId(
  stateFolder: string,
  { id, profile, base_url }: BatchDescriptionLedgerEvent,
): string {
  const server = createHash('sha256')
    .update(JSON.stringify([profile, base_url]))
    .digest('hex')
    .slice(0, 8);
  return buildBatchLedgerPath(stateFolder, `id-${id}-${server}`);
}

import { deriveBatchFromId, readBatchId } from '../../batch/ledger/batch-id.ts';
import {
  type BatchLedger,
  buildBatchLedgerPath,
  createBatchLedgerAtPath,
  createReplacementBatchLedger,
} from '../../batch/ledger/batch-ledger.ts';
import type { BatchDescriptionLedgerEvent } from '../../batch/ledger/batch-ledger-event.ts';
import { buildLedgerPathOfUserBatchId } from '../../batch/ledger/batch-ledger-selection.ts';
import { buildBatchLedgerAccountFields } from '../../batch/ledger/ledger-account.ts';
import { deleteOldBatchLedgers } from '../../batch/ledger/stored-batches.ts';
import {
  noDropletNamesError,
  readBatchDropletNames,
  readDropletAttributes,
  readExistingNamePolicy,
} from '../../batch/options/create-args.ts';
import type { DropletUserData } from '../../batch/options/user-data.ts';
import { addTagToDropletAttributes, batchTag } from '../../batch/sending/droplet-creation-requests.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import type { ResolvedProfileSettings } from '../../config/settings.ts';
import { type RateLimitWaitOptions, readAccountAndServerOriginsIfAvailable } from '../../context/current-identity.ts';
import type { CommandContext } from '../../context.ts';
import { usageError } from '../../errors.ts';

/** Creates the batch that the arguments describe. */
export async function buildBatchDescriptionEvent(
  context: CommandContext,
  args: ParsedArgs,
  settings: ResolvedProfileSettings,
  userData: DropletUserData | undefined,
): Promise<BatchDescriptionLedgerEvent> {
  const names = await readBatchDropletNames(context, args);
  if (names.length === 0) throw noDropletNamesError(args);
  const typed = readDropletAttributes(args, userData);
  const shared = readBatchId(args);
  const id = shared ?? Buffer.from(context.host.random(6)).toString('hex');
  const mark = args.has('mark');
  const attributes = mark ? addTagToDropletAttributes(typed, batchTag(id)) : typed;
  const identified =
    shared === undefined ? attributes && { id, mark, attributes } : deriveBatchFromId(id, names, typed);
  if (identified === undefined)
    throw usageError(
      '--set tags is not a list of strings',
      'write the tags as in `--set tags=\'["web"]\'`; --mark and --batch-id add tags',
    );
  return {
    event: 'batch',
    v: 1,
    at: new Date(context.host.clock.now()).toISOString(),
    profile: settings.profileName,
    base_url: settings.values.base_url ?? '',
    if_exists: readExistingNamePolicy(args),
    ...identified,
    names,
  };
}

export interface CreateBatchLedgerOptions {
  /** Path of `--ledger`. */
  readonly path: string | undefined;
  readonly userData: DropletUserData | undefined;
  readonly wait: RateLimitWaitOptions;
}

/** Creates the ledger of a new batch. */
export async function createBatchLedger(
  context: CommandContext,
  args: ParsedArgs,
  { path, userData, wait }: CreateBatchLedgerOptions,
): Promise<BatchLedger> {
  const settings = context.settings();
  const batch = await buildBatchDescriptionEvent(context, args, settings, userData);
  // A missing or invalid base_url is reported here, before the ledger is created.
  const identity = await readAccountAndServerOriginsIfAvailable(context, settings, wait);
  const { folders, bootId } = context.host;
  const days = settings.values.batch_ledger_days ?? 30;
  if (days > 0) deleteOldBatchLedgers(folders.state, context.host.clock.now() - days * 86_400_000);
  const started = { ...batch, ...buildBatchLedgerAccountFields(identity) };
  if (batch.content_hash !== undefined)
    return createReplacementBatchLedger(buildLedgerPathOfUserBatchId(folders.state, batch), started, bootId);
  return createBatchLedgerAtPath(path ?? buildBatchLedgerPath(folders.state, batch.id), started, bootId);
}

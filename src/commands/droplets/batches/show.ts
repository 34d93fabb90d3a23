import type { Droplet } from '../../../api/droplets.ts';
import { readPublicDropletAddress } from '../../../api/droplets.ts';
import { omitBatchNoticesForJson } from '../../../batch/batch-io.ts';
import { readBatchDroplets } from '../../../batch/deletion/batch-droplets.ts';
import { dropletDeletedWithBatchErrorText } from '../../../batch/ledger/batch-ledger-event.ts';
import type { BatchLedgerState, BatchResultRow } from '../../../batch/ledger/batch-ledger-state.ts';
import { requireAccountMatchesBatchLedger } from '../../../batch/ledger/ledger-account.ts';
import { readBatchLedger } from '../../../batch/ledger/read-batch-ledger.ts';
import { findBatchLedgerPath } from '../../../batch/ledger/stored-batches.ts';
import { describeDropletDifference } from '../../../batch/lookup/candidate-droplets.ts';
import type { ListView } from '../../../cli/columns.ts';
import type { CommandSpec } from '../../../cli/command.ts';
import { readCurrentAccountAndServerOrigins } from '../../../context/current-identity.ts';
import type { CommandContext } from '../../../context.ts';
import { CliError } from '../../../errors.ts';
import { readStringField } from '../../../json.ts';
import { buildRefusedRequestHints } from '../../../session/session-server-binding.ts';
import { createRateLimitDelayWithProgress, showRateLimitWait } from '../../rate-limit-pause.ts';
import { batchLedgerLoginHint, requireProfileMatchesLedger } from '../ledger-profile.ts';

/** A row for one name of a batch: its result in the ledger, and its droplet on the server. */
interface BatchNameRow {
  readonly name: string;
  readonly status: BatchResultRow['status'] | 'missing' | 'deleted';
  readonly id?: number | undefined;
  readonly public_ipv4?: string | undefined;
  /** The droplet status that the server returns; `gone` when the server has no such droplet. */
  readonly state?: string | undefined;
  /** Describes how the droplet differs from the requested attributes. */
  readonly difference?: string | undefined;
  readonly error?: string | undefined;
}

const view: ListView<BatchNameRow> = {
  columns: [
    { name: 'Name', value: (row) => row.name },
    { name: 'Status', value: (row) => row.status },
    { name: 'ID', value: (row) => row.id },
    { name: 'PublicIPv4', value: (row) => row.public_ipv4 },
    { name: 'State', value: (row) => row.state },
    { name: 'Difference', value: (row) => row.difference },
    { name: 'Error', value: (row) => row.error },
  ],
};

export const batchLedgerArgument = {
  name: 'BATCH',
  description: 'Id of the batch, or its ledger file',
  required: true,
  completion: 'file',
} as const;

export const batchesShowCommand: CommandSpec<CommandContext> = {
  description:
    'Prints one row for every name of the batch: the result in the ledger (created, skipped, failed, unknown, missing or deleted), and the address and state of the droplet on the server. State `gone` means that the droplet does not exist any more. When the server cannot be reached, the rows contain only data of the ledger, and a message says so.',
  arguments: [batchLedgerArgument],
  options: [{ name: 'offline', description: 'Print only data of the ledger, without a request' }],
  examples: [
    { text: 'Show a batch', command: 'cloudctl droplets batches show 3f9c2a61d0b7' },
    {
      text: 'Print the droplets of a batch that do not exist any more',
      command: 'cloudctl droplets batches show 3f9c2a61d0b7 -o json --query "[?state==\'gone\']"',
    },
  ],
  run: async (context, args) => {
    context.output.checkColumns(view);
    const { state } = readBatchLedger(findBatchLedgerPath(context.host.folders.state, args.positionals[0] ?? ''));
    const droplets = args.has('offline') ? undefined : await readIfAvailable(context, state);
    await context.output.list(rows(state, droplets), view);
    return 0;
  },
};

function* rows(state: BatchLedgerState, droplets: ReadonlyMap<number, Droplet> | undefined): Generator<BatchNameRow> {
  for (const row of state.rows('')) {
    const { name } = row;
    const id = 'id' in row ? row.id : undefined;
    const error =
      'error' in row && row.error !== '' && row.error !== dropletDeletedWithBatchErrorText ? row.error : undefined;
    const isMissing = row.status === 'failed' && row.error === '';
    const isDeleted = row.status === 'failed' && row.error === dropletDeletedWithBatchErrorText;
    const status = isMissing ? 'missing' : isDeleted ? 'deleted' : row.status;
    const found = id === undefined || droplets === undefined ? {} : describeDroplet(state, droplets.get(id));
    yield { name, status, id, ...found, error };
  }
}

function describeDroplet({ batch }: BatchLedgerState, droplet: Droplet | undefined): Partial<BatchNameRow> {
  if (droplet === undefined) return { state: 'gone' };
  const { raw } = droplet;
  const difference = describeDropletDifference(raw, batch.attributes);
  return {
    public_ipv4: readPublicDropletAddress(raw),
    state: readStringField(raw, 'status'),
    difference: difference === '' ? undefined : difference,
  };
}

/** Reads the droplets of the batch, indexed by id; undefined when the server cannot be reached. */
async function readIfAvailable(
  context: CommandContext,
  state: BatchLedgerState,
): Promise<ReadonlyMap<number, Droplet> | undefined> {
  const settings = context.settings();
  requireProfileMatchesLedger(settings, state.batch);
  const io = omitBatchNoticesForJson(context);
  try {
    const api = await context.api(settings);
    // If the rate limit requires a wait of more than 60 s, the command shows only the ledger.
    const wait = { maxWait: 60_000, onPause: (ms: number) => showRateLimitWait(io, ms) };
    const current = await readCurrentAccountAndServerOrigins(context, settings, wait);
    const hints = buildRefusedRequestHints(settings, context.host.folders.config);
    const loginHint = batchLedgerLoginHint(settings, state.batch);
    await requireAccountMatchesBatchLedger({ api, state, current, loginHint, loginHints: hints, isSkipped: false });
    const pause = createRateLimitDelayWithProgress({ ...context, ...io });
    return await readBatchDroplets(state, { api, pause, onProgress: io.progress.count('droplets') });
  } catch (error) {
    if (!(error instanceof CliError) || error.code === 'cancelled') throw error;
    await io.progress.stop();
    await io.output.note(`Could not read the droplets: ${error.message}. The rows contain only data of the ledger.`);
    return undefined;
  } finally {
    await io.progress.stop();
  }
}

import type { Droplet } from '../../../api/droplets.ts';
import { CliError } from '../../../base/errors.ts';
import type { CommandSpec } from '../../../cli/command.ts';
import { quietForJson } from '../../../cli/quiet-for-json.ts';
import type { CommandContext } from '../../../context.ts';
import {
  type BatchState,
  findLedger,
  readBatchDroplets,
  readLedger,
  showBatch,
  showView,
} from '../../../droplets/index.ts';
import { createRateLimitDelayWithProgress, showRateLimitWait } from '../../rate-limit-pause.ts';
import { requireAccountOfLedger, requireProfileMatchesLedger } from '../ledger-profile.ts';

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
    context.output.checkColumns(showView);
    const { state } = readLedger(findLedger(context.host.folders.state, args.positionals[0] ?? ''));
    const droplets = args.has('offline') ? undefined : await readIfAvailable(context, state);
    await context.output.list(showBatch(state, droplets), showView);
    return 0;
  },
};

/** Reads the droplets of the batch, indexed by id; undefined when the server cannot be reached. */
async function readIfAvailable(
  context: CommandContext,
  state: BatchState,
): Promise<ReadonlyMap<string, Droplet> | undefined> {
  const settings = context.settings();
  requireProfileMatchesLedger(settings, state.batch);
  const io = quietForJson(context);
  try {
    const api = await context.api(settings);
    // If the rate limit requires a wait of more than 60 s, the command shows only the ledger.
    const wait = { maxWait: 60_000, onPause: (ms: number) => showRateLimitWait(io, ms) };
    await requireAccountOfLedger(context, state, wait);
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

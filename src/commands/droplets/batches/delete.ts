import type { CommandSpec } from '../../../cli/command.ts';
import { quietForJson } from '../../../cli/quiet-for-json.ts';
import { describeCurrentAccount } from '../../../context/current-identity.ts';
import type { CommandContext } from '../../../context.ts';
import { deleteBatch, findLedger, openLedger, requireDeletable } from '../../../droplets/index.ts';
import { buildRefusedRequestHints } from '../../../session/session-server-binding.ts';
import { formatProfileAndServerOptions } from '../../profile-options.ts';
import { createRateLimitDelayWithProgress, showRateLimitWait } from '../../rate-limit-pause.ts';
import { requireAccountOfLedger, requireProfileMatchesLedger } from '../ledger-profile.ts';
import { batchSendOptionSpecs, readBatchSendOptions } from '../send-options.ts';
import { batchLedgerArgument } from './show.ts';

export const batchesDeleteCommand: CommandSpec<CommandContext> = {
  description:
    'Deletes exactly the droplets that the batch created, by the ids in its ledger, after showing them and a confirmation: `--yes` confirms in a script. If one of them has another name than in the ledger, nothing is deleted. Droplets that were skipped stay. Names with an unknown result are left, because nothing proves that their droplets belong to the batch.\n\nThe ledger is kept and records what was deleted. `cloudctl droplets create --resume LEDGER` then creates the deleted droplets again.',
  arguments: [batchLedgerArgument],
  options: [
    { name: 'dry-run', description: 'List the droplets that would be deleted, without deleting them' },
    ...batchSendOptionSpecs,
  ],
  examples: [
    { text: 'Delete the droplets of a batch', command: 'cloudctl droplets batches delete 3f9c2a61d0b7' },
    {
      text: 'List the droplets that would be deleted',
      command: 'cloudctl droplets batches delete 3f9c2a61d0b7 --dry-run',
    },
  ],
  run: async (context, args) => {
    const { host } = context;
    const { concurrency, maxWait } = readBatchSendOptions(args);
    const isDryRun = args.has('dry-run');
    requireDeletable(context, isDryRun);
    const ledger = await openLedger(findLedger(host.folders.state, args.positionals[0] ?? ''), host);
    try {
      const { state } = ledger;
      const settings = context.settings();
      requireProfileMatchesLedger(settings, state.batch);
      const api = await context.api(settings);
      const io = quietForJson(context);
      const onPause = (ms: number): Promise<void> => showRateLimitWait(io, ms);
      const current = await requireAccountOfLedger(context, state, { maxWait, onPause });
      const pause = createRateLimitDelayWithProgress({ ...context, ...io });
      const reader = { api, pause, onProgress: io.progress.count('droplets') };
      return await deleteBatch(context, ledger, reader, {
        loginHints: buildRefusedRequestHints(settings, host.folders.config),
        concurrency,
        maxWait,
        onPause,
        isDryRun,
        ...(context.prompts.interactive ? { actor: describeCurrentAccount(context, settings, current) } : {}),
        profileOptions: formatProfileAndServerOptions(context.globals, settings.profile),
      });
    } finally {
      await ledger.close();
    }
  },
};

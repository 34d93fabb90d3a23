import { omitBatchNoticesForJson } from '../../../batch/batch-io.ts';
import { findDropletsCreatedByBatch } from '../../../batch/deletion/batch-droplets.ts';
import {
  confirmAndDeleteDroplets,
  requireConfirmableAndPrintableDeletion,
} from '../../../batch/deletion/confirm-and-delete-droplets.ts';
import { openExistingBatchLedger } from '../../../batch/ledger/batch-ledger.ts';
import { formatBatchLedgerTimestamp } from '../../../batch/ledger/batch-ledger-event.ts';
import { requireAccountMatchesBatchLedger } from '../../../batch/ledger/ledger-account.ts';
import { findBatchLedgerPath } from '../../../batch/ledger/stored-batches.ts';
import { formatProfileAndServerOptions } from '../../../batch/report/resume-command.ts';
import type { CommandSpec } from '../../../cli/command.ts';
import { describeCurrentAccount, readCurrentAccountAndServerOrigins } from '../../../context/current-identity.ts';
import type { CommandContext } from '../../../context.ts';
import { buildRefusedRequestHints } from '../../../session/session-server-binding.ts';
import { createRateLimitDelayWithProgress, showRateLimitWait } from '../../rate-limit-pause.ts';
import { batchLedgerLoginHint, requireProfileMatchesLedger } from '../ledger-profile.ts';
import { batchSendOptionSpecs, readBatchSendOptions } from '../send-options.ts';
import { batchLedgerArgument } from './show.ts';

export const batchesDeleteCommand: CommandSpec<CommandContext> = {
  description:
    'Deletes exactly the droplets that the batch created, by the ids in its ledger, after showing them and a confirmation: `--yes` confirms in a script. If one of them has another name than in the ledger, nothing is deleted. Droplets that were skipped stay. Names with an unknown result are left, because nothing proves that their droplets belong to the batch.\n\nThe ledger is kept and records what was deleted. `cloudctl droplets create --resume LEDGER` then creates the deleted droplets again.',
  arguments: [batchLedgerArgument],
  options: [
    { name: 'dry-run', description: 'List the droplets that would be deleted, without deleting them' },
    {
      name: 'skip-account-check',
      description: 'Continue although the account of the ledger could not be verified',
    },
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
    requireConfirmableAndPrintableDeletion(context, isDryRun);
    const ledger = await openExistingBatchLedger(
      findBatchLedgerPath(host.folders.state, args.positionals[0] ?? ''),
      host.bootId,
    );
    try {
      const { state } = ledger;
      const settings = context.settings();
      requireProfileMatchesLedger(settings, state.batch);
      const api = await context.api(settings);
      const hints = buildRefusedRequestHints(settings, host.folders.config);
      const io = omitBatchNoticesForJson(context);
      const onPause = (ms: number): Promise<void> => showRateLimitWait(io, ms);
      const current = await readCurrentAccountAndServerOrigins(context, settings, { maxWait, onPause });
      const [isSkipped, loginHint] = [args.has('skip-account-check'), batchLedgerLoginHint(settings, state.batch)];
      await requireAccountMatchesBatchLedger({ api, state, current, loginHint, loginHints: hints, isSkipped });
      const reader = {
        api,
        pause: createRateLimitDelayWithProgress({ ...context, ...io }),
        onProgress: io.progress.count('droplets'),
      };
      const targets = await findDropletsCreatedByBatch(state, reader).finally(() => io.progress.stop());
      if (targets.length === 0) await io.output.note('The ledger has no droplet to delete.');
      // The names of the ledger are used, because the server may write a name in another case.
      const names = new Map([...state.rows()].flatMap((row) => (row.status === 'created' ? [[row.id, row.name]] : [])));
      const unknown = [...state.rows()].flatMap(({ name, status }) => (status === 'unknown' ? [name] : []));
      if (unknown.length > 0)
        await io.output.note(`Not deleted, because the result of these names is unknown: ${listNames(unknown)}.`);
      return await confirmAndDeleteDroplets(context, api, targets, {
        loginHints: hints,
        concurrency,
        maxWait,
        onPause,
        isDryRun,
        ...(context.prompts.interactive ? { actor: describeCurrentAccount(context, settings, current) } : {}),
        profileOptions: formatProfileAndServerOptions(context.globals, settings.profile),
        onDeleted: ({ id }) => {
          const name = names.get(id) ?? '';
          ledger.record({ event: 'deleted', at: formatBatchLedgerTimestamp(host.clock), rows: [{ name, id }] });
        },
      });
    } finally {
      await ledger.close();
    }
  },
};

function listNames(names: readonly string[]): string {
  const listed = names.slice(0, 20).join(', ');
  return names.length > 20 ? `${listed} and ${names.length - 20} more` : listed;
}

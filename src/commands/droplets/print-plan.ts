import type { ApiClient } from '../../api/client.ts';
import { omitBatchNoticesForJson } from '../../batch/batch-io.ts';
import type { BatchLedgerState } from '../../batch/ledger/batch-ledger-state.ts';
import { createDropletByNameFinder } from '../../batch/lookup/droplet-by-name-finder.ts';
import { batchPlanListView, previewBatchActions } from '../../batch/report/plan-batch.ts';
import { createRateLimitedSender } from '../../batch/sending/rate-limited-sender.ts';
import type { ResolvedProfileSettings } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import type { ExitCode } from '../../errors.ts';
import { buildRefusedRequestHints } from '../../session/session-server-binding.ts';
import { showRateLimitWait } from '../rate-limit-pause.ts';

export interface PrintBatchPlanOptions {
  readonly api: ApiClient;
  readonly settings: ResolvedProfileSettings;
  /** The longest wait for the rate limit in milliseconds. */
  readonly maxWait: number;
}

/** Prints what `droplets create` would do for each name. Only reads. */
export async function printBatchPlan(
  context: CommandContext,
  state: BatchLedgerState,
  { api, settings, maxWait }: PrintBatchPlanOptions,
): Promise<ExitCode> {
  const { host, output } = context;
  const io = omitBatchNoticesForJson(context);
  const lane = createRateLimitedSender({
    api,
    loginHints: buildRefusedRequestHints(settings, host.folders.config),
    clock: host.clock,
    maxPause: maxWait,
    onPause: (ms) => showRateLimitWait(io, ms),
  });
  const signal = new AbortController().signal;
  const rows = await previewBatchActions(state, { lane, lookup: createDropletByNameFinder(lane), signal });
  await io.progress.stop();
  await output.list(rows, batchPlanListView);
  return 0;
}

import { describe, expect, it, onTestFinished } from 'vitest';
import type { BatchLedger } from '../../../src/batch/ledger/batch-ledger.ts';
import { createDropletByNameFinder } from '../../../src/batch/lookup/droplet-by-name-finder.ts';
import { startBatchReporter } from '../../../src/batch/report/batch-reporter.ts';
import { startBatchWaitingNoticePrinter } from '../../../src/batch/report/batch-waiting-notice-printer.ts';
import { defaultBatchTimeLimits } from '../../../src/batch/sending/batch-time-limits.ts';
import { createRateLimitedSender } from '../../../src/batch/sending/rate-limited-sender.ts';
import { reconcileAndCreateMissingDroplets } from '../../../src/batch/sending/reconcile-and-create-missing-droplets.ts';
import { workLoginHints } from '../../api/login-hints.ts';
import { commandIo } from '../../fixtures/command-io.ts';
import { testHost } from '../../fixtures/host.ts';
import { apiOf, batchOf, batchResponse, fastClock, ledgerFor, respondCreated } from '../batch-fixtures.ts';

async function send(ledger: BatchLedger, api = apiOf(respondCreated)) {
  const clock = fastClock();
  const io = commandIo({ ...testHost(), clock }, 'json');
  const notice = startBatchWaitingNoticePrinter(io);
  onTestFinished(() => notice.stop());
  const lane = createRateLimitedSender({
    api,
    loginHints: workLoginHints,
    clock,
    maxPause: 900_000,
    onPause: async () => {},
  });
  const running = new AbortController().signal;
  const deps = {
    ...{ ledger, lane, clock, lookup: createDropletByNameFinder(lane), timings: defaultBatchTimeLimits },
    ...{ ending: running, ended: running, loginHints: workLoginHints },
  };
  const reporter = await startBatchReporter(notice.io, ledger);
  return reconcileAndCreateMissingDroplets(notice, reporter, deps, {
    api,
    batchSize: 10,
    concurrency: 1,
    timeout: 30_000,
  });
}

const baseline = { event: 'baseline', at: '2026-01-01T00:00:00.000Z', existing: {} } as const;

describe('sending what a batch lacks', () => {
  it('creates every name, and a first run has no duplicates to look for', async () => {
    for (const mark of [false, true]) {
      const ledger = await ledgerFor(batchOf(['a', 'b'], { mark }));
      expect(await send(ledger)).toEqual({ stopped: undefined, lastLookupAt: undefined });
      expect(ledger.state.counts()).toMatchObject({ created: 2, missing: 0 });
    }
  });

  it('looks for duplicates after a resumed run only where a tag tells them apart', async () => {
    const resumed = async (mark: boolean) => {
      const ledger = await ledgerFor(batchOf(['a', 'b'], { mark }));
      await ledger.commit(baseline);
      return send(ledger);
    };
    expect((await resumed(true)).lastLookupAt).toEqual(expect.any(Number));
    expect((await resumed(false)).lastLookupAt).toBeUndefined();
  });

  it('resolves with the error that stopped it', async () => {
    const ledger = await ledgerFor(batchOf(['a']));
    const api = apiOf(() => batchResponse(403, { id: 'forbidden' }));
    const { stopped, lastLookupAt } = await send(ledger, api);
    expect(stopped).toMatchObject({ code: 'scope_too_small' });
    expect(lastLookupAt).toBeUndefined();
  });

  it('stops before anything is sent when names are in use', async () => {
    const taken = [{ id: 1, name: 'a' }];
    const ledger = await ledgerFor(batchOf(['a'], { if_exists: 'fail' }));
    const api = apiOf(respondCreated, () => batchResponse(200, { droplets: taken, meta: { total: 1 } }));
    await expect(send(ledger, api)).rejects.toMatchObject({ code: 'usage' });
    expect(api.sent).toEqual([]);
  });
});

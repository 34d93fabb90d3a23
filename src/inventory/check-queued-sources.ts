import type { Clock } from '../platform/host.ts';
import type { InventorySourceCheckResult } from './check-inventory-source.ts';
import type { InventorySourceOutcome } from './inventory-source-outcome.ts';
import type { ClaimedInventorySource, InventoryWorkQueue } from './inventory-work-queue.ts';
import type { ServerConcurrencySlot, SourceCheckConcurrencyLimits } from './run-for-each-source-within-limits.ts';

export interface InventoryWorkQueueWorkerOptions extends SourceCheckConcurrencyLimits {
  readonly queue: InventoryWorkQueue;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Milliseconds. */
  readonly lease: number;
  readonly addressOf: (line: number) => string;
  readonly check: (line: number, slot: ServerConcurrencySlot) => Promise<InventorySourceCheckResult>;
  /** Called for each result that this machine stored in the queue before any other machine did. */
  readonly onOutcome: (outcome: InventorySourceOutcome) => Promise<void>;
  /** Called with the number of sources that all machines have finished. */
  readonly onProgress: (finished: number) => void;
}

/**
 * Takes sources from the queue until this machine or another one has stored an outcome for every source. If this machine has
 * no password for a source, it returns the source to the queue once. If no other machine takes the source within the time of
 * a lease, this machine stores an outcome for the source.
 */
export async function checkQueuedSources(work: InventoryWorkQueueWorkerOptions): Promise<void> {
  const { queue, clock, signal, lease, onProgress } = work;
  const state: WorkerState = { held: new Map(), busy: new Map(), returned: new Map(), failure: undefined };
  const stopRenewing = renewLeases(work, state);
  let wake = (): void => {};
  try {
    for (;;) {
      if (signal.aborted || state.failure !== undefined) break;
      const claim = state.held.size < work.parallel ? await queue.claim(excluded(work, state)) : undefined;
      if (claim !== undefined) {
        void runClaim(work, state, claim).finally(() => wake());
        continue;
      }
      const counts = await queue.counts();
      onProgress(counts.finished);
      if (counts.finished >= counts.total) break;
      const finished = new Promise<void>((resolve) => {
        wake = resolve;
      });
      await Promise.race([finished, clock.sleep(Math.min(1000, lease / 4), signal).catch(() => {})]);
    }
    while (state.held.size > 0) await Promise.race([...state.held.values()].map(({ ended }) => ended));
  } finally {
    stopRenewing();
  }
  if (state.failure !== undefined) throw state.failure.error;
}

interface WorkerState {
  readonly held: Map<number, { readonly ended: Promise<void> }>;
  /** Number of sources that are checked now, by address. */
  readonly busy: Map<string, number>;
  /** Line numbers of sources that were returned to the queue because this machine has no password, each with the time. */
  readonly returned: Map<number, number>;
  failure: { readonly error: unknown } | undefined;
}

function excluded({ perServer, clock, lease }: InventoryWorkQueueWorkerOptions, { held, busy, returned }: WorkerState) {
  const waiting = [...returned].filter(([, at]) => clock.now() - at < lease).map(([line]) => line);
  return {
    lines: [...new Set([...waiting, ...held.keys()])],
    addresses: [...busy].filter(([, count]) => count >= perServer).map(([address]) => address),
  };
}

function runClaim(
  work: InventoryWorkQueueWorkerOptions,
  state: WorkerState,
  claim: ClaimedInventorySource,
): Promise<void> {
  const { line } = claim;
  const address = work.addressOf(line);
  state.busy.set(address, (state.busy.get(address) ?? 0) + 1);
  const ended = checkClaim(work, state, claim)
    .catch((error: unknown) => {
      state.failure ??= { error };
    })
    .finally(() => {
      state.held.delete(line);
      state.busy.set(address, (state.busy.get(address) ?? 1) - 1);
    });
  state.held.set(line, { ended });
  return ended;
}

async function checkClaim(
  work: InventoryWorkQueueWorkerOptions,
  { returned }: WorkerState,
  claim: ClaimedInventorySource,
): Promise<void> {
  const { queue, clock, signal, check, onOutcome } = work;
  const checked = await check(claim.line, noSharedLimit).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  // After Ctrl-C the source is released at once, so that other machines need not wait until its lease ends.
  if (checked === undefined || signal.aborted) return queue.release(claim);
  const { outcome, lacksPassword } = checked;
  if (lacksPassword && !returned.has(claim.line)) {
    returned.set(claim.line, clock.now());
    return queue.release(claim);
  }
  if (await queue.record(claim, JSON.stringify(outcome))) await onOutcome(outcome);
}

/** Limits nothing: the queue itself limits the sources of one server, by the address in each row. */
const noSharedLimit: ServerConcurrencySlot = { identify: () => {}, pause: (waiting) => waiting() };

function renewLeases({ queue, clock, lease }: InventoryWorkQueueWorkerOptions, { held }: WorkerState): () => void {
  const end = new AbortController();
  const run = async () => {
    for (;;) {
      await clock.sleep(lease / 3, end.signal).catch(() => {});
      if (end.signal.aborted) return;
      // An error is ignored: if a lease is not renewed, another machine may only check the source a second time.
      await queue.renew([...held.keys()]).catch(() => {});
    }
  };
  void run();
  return () => end.abort();
}

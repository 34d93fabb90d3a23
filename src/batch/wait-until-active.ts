import { CliError } from '../errors.ts';
import { stringField } from '../json.ts';
import type { Clock } from '../platform/host.ts';
import type { BatchState } from './batch-state.ts';
import { batchTag } from './droplet-requests.ts';
import { scanDropletPages } from './scan-droplets.ts';
import type { SendLane } from './send-lane.ts';

export interface WaitUntilActiveOptions {
  readonly lane: SendLane;
  readonly clock: Clock;
  /** Milliseconds between two polls. */
  readonly poll: number;
  readonly signal: AbortSignal;
  readonly onPoll: (active: number, total: number) => Promise<void>;
}

/** Consecutive polls that may fail, or that may lack a droplet, before the wait ends. */
const maxMisses = 5;

/**
 * Waits until no droplet of the batch has the status `new`, with one list of droplets per poll. Resolves with the names of
 * droplets that no longer exist.
 */
export async function waitUntilActive(state: BatchState, options: WaitUntilActiveOptions): Promise<readonly string[]> {
  const { lane, clock, signal } = options;
  const waiting = new Map<number, { readonly name: string; misses: number }>();
  for (const row of state.rows()) if (row.status === 'created') waiting.set(row.id, { name: row.name, misses: 0 });
  const total = waiting.size;
  const deleted: string[] = [];
  const { id: batchId, mark, names } = state.batch;
  // A server that ignores the filter returns more droplets, which does no harm.
  const filter = mark ? `?tag_name=${batchTag(batchId)}` : names.length === 1 ? `?name=${names[0]}` : '';
  for (let failures = 0; waiting.size > 0; ) {
    signal.throwIfAborted();
    try {
      const listed = new Set<number>();
      for await (const { droplets } of scanDropletPages(lane, `/v2/droplets${filter}`, signal)) {
        for (const { id, raw } of droplets) {
          if (waiting.has(id)) listed.add(id);
          if (stringField(raw, 'status') !== 'new') waiting.delete(id);
        }
      }
      failures = 0;
      for (const [id, one] of waiting) {
        if (listed.has(id)) continue;
        one.misses += 1;
        if (one.misses < maxMisses) continue;
        deleted.push(one.name);
        waiting.delete(id);
      }
    } catch (error) {
      failures += 1;
      if (!(error instanceof CliError) || error.exitCode === 4 || failures >= maxMisses) throw error;
    }
    await options.onPoll(total - waiting.size - deleted.length, total);
    if (waiting.size > 0) await clock.sleep(options.poll, signal);
  }
  return deleted;
}

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
  /** Milliseconds between two looks. */
  readonly poll: number;
  readonly signal: AbortSignal;
  readonly onPoll: (active: number, total: number) => Promise<void>;
}

/** Looks that fail, or do not show a droplet, before it is given up. */
const maxMisses = 5;

/**
 * Waits until no droplet of the batch is `new` any more: one list an interval for all of them. Resolves with the names
 * whose droplets are not there any more.
 */
export async function waitUntilActive(roster: BatchState, options: WaitUntilActiveOptions): Promise<readonly string[]> {
  const { lane: line, clock, signal } = options;
  const waiting = new Map<number, { readonly name: string; unseen: number }>();
  for (const row of roster.rows()) if (row.status === 'created') waiting.set(row.id, { name: row.name, unseen: 0 });
  const total = waiting.size;
  const gone: string[] = [];
  const { id: batchId, mark, names } = roster.batch;
  // A server that does not honour the filter gives more than is asked for, which does no harm.
  const filter = mark ? `?tag_name=${batchTag(batchId)}` : names.length === 1 ? `?name=${names[0]}` : '';
  for (let failures = 0; waiting.size > 0; ) {
    signal.throwIfAborted();
    try {
      const seen = new Set<number>();
      for await (const { droplets } of scanDropletPages(line, `/v2/droplets${filter}`, signal)) {
        for (const { id, raw } of droplets) {
          if (waiting.has(id)) seen.add(id);
          if (stringField(raw, 'status') !== 'new') waiting.delete(id);
        }
      }
      failures = 0;
      for (const [id, one] of waiting) {
        if (seen.has(id)) continue;
        one.unseen += 1;
        if (one.unseen < maxMisses) continue;
        gone.push(one.name);
        waiting.delete(id);
      }
    } catch (error) {
      failures += 1;
      if (!(error instanceof CliError) || error.exitCode === 4 || failures >= maxMisses) throw error;
    }
    await options.onPoll(total - waiting.size - gone.length, total);
    if (waiting.size > 0) await clock.sleep(options.poll, signal);
  }
  return gone;
}

import { CliError } from '../errors.ts';
import type { Clock } from '../platform/host.ts';
import type { DropletLookup } from './droplet-lookup.ts';
import type { Ledger } from './ledger.ts';
import { type BaselineEvent, ledgerTimestamp } from './ledger-event.ts';
import type { SendLane } from './send-lane.ts';

export interface BaselineDeps {
  readonly ledger: Pick<Ledger, 'commit' | 'state'>;
  readonly lane: SendLane;
  readonly lookup: DropletLookup;
  readonly clock: Clock;
  readonly ending: AbortSignal;
}

const maxAttempts = 3;

/** Records the droplets that have one of the names before anything is sent. Synced when it resolves; a resumed batch keeps its baseline. */
export async function takeBaseline({ ledger, lane, lookup, clock, ending }: BaselineDeps): Promise<BaselineEvent> {
  const { batch, baseline, hasName } = ledger.state;
  const { names } = batch;
  const known = baseline();
  if (known !== undefined) return known;
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const { conclusive, hasTotal, droplets } = await lookup.find({ names, has: hasName }, ending);
    if (!hasTotal) throw missingTotalError();
    if (!conclusive) continue;
    const existing = [...droplets].filter(([, found]) => found.length > 0);
    const event: BaselineEvent = {
      event: 'baseline',
      at: ledgerTimestamp(clock),
      server_date: lane.serverTime(),
      existing: Object.fromEntries(existing.map(([name, found]) => [name, found.map(({ id }) => id)])),
    };
    await ledger.commit(event);
    return event;
  }
  throw new CliError('incomplete_list', 'could not read which names are in use', {
    detail: `the list of droplets changed during each of ${maxAttempts} readings`,
    hint: 'run the command again',
  });
}

/** Without the total it is not known whether a list is complete, however often it is read. */
function missingTotalError(): CliError {
  return new CliError('incomplete_list', 'could not read which names are in use', {
    detail: 'the response of GET /v2/droplets has no `meta.total`',
    hint: 'check that base_url is the resource API: `cloudctl api GET /v2/droplets`',
  });
}

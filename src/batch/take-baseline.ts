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

/** The ids that bear one of the names before anything is sent; on the disk when it resolves, and taken only once. */
export async function takeBaseline({ ledger, lane, lookup, clock, ending }: BaselineDeps): Promise<BaselineEvent> {
  const { batch, baseline, hasName } = ledger.state;
  const { names } = batch;
  const known = baseline();
  if (known !== undefined) return known;
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const { conclusive, hasTotal, droplets } = await lookup.find({ names, has: hasName }, ending);
    if (!hasTotal) throw missingTotalError();
    if (!conclusive) continue;
    const met = [...droplets].filter(([, bearers]) => bearers.length > 0);
    const event: BaselineEvent = {
      event: 'baseline',
      at: ledgerTimestamp(clock),
      server_date: lane.serverTime(),
      existing: Object.fromEntries(met.map(([name, bearers]) => [name, bearers.map(({ id }) => id)])),
    };
    await ledger.commit(event);
    return event;
  }
  throw new CliError('incomplete_list', 'could not see which of the names are taken', {
    detail: `the list of droplets changed while it was read, ${maxAttempts} times`,
    hint: 'run the command again',
  });
}

/** Reading it again would not help: without the number nobody can tell that all of a list was read. */
function missingTotalError(): CliError {
  return new CliError('incomplete_list', 'could not see which of the names are taken', {
    detail: 'the answer to GET /v2/droplets does not say how many droplets there are (`meta.total`)',
    hint: '`cloudctl api GET /v2/droplets` shows the answer; see that base_url is the resource API itself',
  });
}

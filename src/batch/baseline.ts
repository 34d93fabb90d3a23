import { CliError } from '../errors.ts';
import type { Clock } from '../platform/host.ts';
import { type BaselineEvent, stampOf } from './event.ts';
import type { Ledger } from './ledger.ts';
import type { Line } from './line.ts';
import type { Lookups } from './lookup.ts';

export interface BaselineDeps {
  readonly ledger: Pick<Ledger, 'commit' | 'roster'>;
  readonly line: Line;
  readonly lookups: Lookups;
  readonly clock: Clock;
  readonly ending: AbortSignal;
}

const tries = 3;

/** The ids that bear one of the names before anything is sent; on the disk when it resolves, and taken only once. */
export async function takeBaseline({ ledger, line, lookups, clock, ending }: BaselineDeps): Promise<BaselineEvent> {
  const { batch, baseline, has } = ledger.roster;
  const { names } = batch;
  const known = baseline();
  if (known !== undefined) return known;
  for (let attempt = 1; attempt <= tries; attempt++) {
    const { conclusive, counted, droplets } = await lookups.find({ names, has }, ending);
    if (!counted) throw uncounted();
    if (!conclusive) continue;
    const met = [...droplets].filter(([, bearers]) => bearers.length > 0);
    const event: BaselineEvent = {
      event: 'baseline',
      at: stampOf(clock),
      server_date: line.serverTime(),
      existing: Object.fromEntries(met.map(([name, bearers]) => [name, bearers.map(({ id }) => id)])),
    };
    await ledger.commit(event);
    return event;
  }
  throw new CliError('incomplete_list', 'could not see which of the names are taken', {
    detail: `the list of droplets changed while it was read, ${tries} times`,
    hint: 'run the command again',
  });
}

/** Reading it again would not help: without the number nobody can tell that all of a list was read. */
function uncounted(): CliError {
  return new CliError('incomplete_list', 'could not see which of the names are taken', {
    detail: 'the answer to GET /v2/droplets does not say how many droplets there are (`meta.total`)',
    hint: '`cloudctl api GET /v2/droplets` shows the answer; see that base_url is the resource API itself',
  });
}

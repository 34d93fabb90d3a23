import { candidateCriteria, findCandidates } from './candidate-droplets.ts';
import { type CreatedRow, ledgerTimestamp } from './ledger-event.ts';
import type { ResolveUncertainDeps } from './resolve-uncertain.ts';

/**
 * A ledger may be behind: a copy of it went on with the batch, or a backup was put in its place. Of the names it takes to be
 * missing those are adopted that a droplet with the tag of `--mark` bears; resolves with them. Where it is not sure they are in
 * doubt. Without the tag nothing tells a droplet of ours from one that somebody else made since: a name that was not sent has none.
 */
export async function adoptMarkedDroplets({
  ledger,
  lookup: lookups,
  clock,
  ending,
}: Pick<ResolveUncertainDeps, 'ledger' | 'lookup' | 'clock' | 'ending'>): Promise<readonly string[]> {
  const { state: roster } = ledger;
  const names = roster.batch.mark ? roster.missing() : [];
  if (names.length === 0) return [];
  const among = new Set(names);
  const { conclusive, droplets } = await lookups.find({ names, has: (name) => among.has(name) }, ending);
  const wanted = candidateCriteria(roster, undefined);
  const rows: CreatedRow[] = [];
  for (const name of names) {
    const [one, ...others] = findCandidates(name, droplets.get(name) ?? [], wanted);
    if (one === undefined) continue;
    if (conclusive && others.length === 0) rows.push({ name, id: one.id });
    else {
      const group = roster.nextGroup();
      ledger.record({
        event: 'unknown',
        at: ledgerTimestamp(clock),
        group,
        names: [name],
        error: unknownOrigin,
        resend: true,
      });
    }
  }
  if (rows.length > 0)
    ledger.record({ event: 'created', at: ledgerTimestamp(clock), group: roster.nextGroup(), adopted: true, rows });
  return rows.map(({ name }) => name);
}

const unknownOrigin = 'a droplet of the name is there, and this ledger knows of no request that made it';

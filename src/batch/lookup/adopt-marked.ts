import { type CreatedDropletRow, ledgerTimestamp } from '../ledger/ledger-event.ts';
import { batchTag } from '../sending/droplet-requests.ts';
import { candidateCriteria, findCandidates } from './candidate-droplets.ts';
import type { ResolveUncertainDeps } from './resolve-uncertain.ts';

/**
 * A ledger can be behind the server: a copy of it continued the batch, or it was restored from a backup. Missing names are
 * adopted when one droplet with the tag of `--mark` has them; resolves with the adopted names. When several droplets match,
 * or the lookup was inconclusive, the name becomes uncertain. Without the tag nothing is adopted, because the droplet may
 * have been created by another user.
 */
export async function adoptMarkedDroplets({
  ledger,
  lookup: lookups,
  clock,
  ending,
}: Pick<ResolveUncertainDeps, 'ledger' | 'lookup' | 'clock' | 'ending'>): Promise<readonly string[]> {
  const { state } = ledger;
  const names = state.batch.mark ? state.missing() : [];
  if (names.length === 0) return [];
  const wantedNames = new Set(names);
  const { conclusive, droplets } = await lookups.find(
    { names, has: (name) => wantedNames.has(name), tag: batchTag(state.batch.id) },
    ending,
  );
  const criteria = candidateCriteria(state, undefined);
  const rows: CreatedDropletRow[] = [];
  for (const name of names) {
    const [one, ...others] = findCandidates(name, droplets.get(name) ?? [], criteria);
    if (one === undefined) continue;
    if (conclusive && others.length === 0) rows.push({ name, id: one.id });
    else {
      const group = state.nextGroup();
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
    ledger.record({ event: 'created', at: ledgerTimestamp(clock), group: state.nextGroup(), adopted: true, rows });
  return rows.map(({ name }) => name);
}

const unknownOrigin = 'a droplet with this name exists, and the ledger has no request that created it';

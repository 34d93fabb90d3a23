import { formatBatchLedgerTimestamp, type LedgerCreatedDroplet } from '../ledger/batch-ledger-event.ts';
import { batchTag } from '../sending/droplet-creation-requests.ts';
import { buildCandidateDropletCriteria, findCandidateDroplets } from './candidate-droplets.ts';
import type { ResolveUncertainRequestDeps } from './resolve-uncertain.ts';

/**
 * A ledger can lack droplets that exist on the server: a copy of the ledger continued the batch, or the ledger was restored
 * from a backup. Missing names are recorded as created (adopted) when exactly one droplet with the tag of `--mark` has the
 * name; resolves with the adopted names. When several droplets match a name, or the lookup was inconclusive, the result of the
 * name becomes unknown. Without `--mark` no droplet is adopted, because another user may have created the droplet.
 */
export async function adoptMarkedDroplets({
  ledger,
  lookup: lookups,
  clock,
  ending,
}: Pick<ResolveUncertainRequestDeps, 'ledger' | 'lookup' | 'clock' | 'ending'>): Promise<readonly string[]> {
  const { state } = ledger;
  const names = state.batch.mark ? state.missing() : [];
  if (names.length === 0) return [];
  const wantedNames = new Set(names);
  const { conclusive, droplets } = await lookups.find(
    { names, has: (name) => wantedNames.has(name), tag: batchTag(state.batch.id) },
    ending,
  );
  const criteria = buildCandidateDropletCriteria(state, undefined);
  const rows: LedgerCreatedDroplet[] = [];
  for (const name of names) {
    const [one, ...others] = findCandidateDroplets(name, droplets.get(name) ?? [], criteria);
    if (one === undefined) continue;
    if (conclusive && others.length === 0) rows.push({ name, id: one.id });
    else {
      const group = state.nextGroup();
      ledger.record({
        event: 'unknown',
        at: formatBatchLedgerTimestamp(clock),
        group,
        names: [name],
        error: unknownOrigin,
        resend: true,
      });
    }
  }
  if (rows.length > 0)
    ledger.record({
      event: 'created',
      at: formatBatchLedgerTimestamp(clock),
      group: state.nextGroup(),
      adopted: true,
      rows,
    });
  return rows.map(({ name }) => name);
}

const unknownOrigin = 'a droplet with this name exists, and the ledger has no request that created it';

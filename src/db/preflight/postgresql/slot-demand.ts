import { countOf } from '../../../base/text.ts';
import { alterSystemFix } from './alter-system.ts';
import type { ReplicationSlot } from './queries/replication-slots.ts';
import type { PostgresqlServerSettings } from './queries/settings.ts';

/** The number of replication slots, and of WAL senders, that a migration of this many databases uses; `sum` shows the calculation. */
export function computeReplicationSlotDemand(databases: number): {
  readonly needed: number;
  readonly full: number;
  readonly sum: string;
} {
  const needed = databases + 1;
  const full = 3 * databases + 2;
  return {
    needed,
    full,
    sum: `${countOf(databases, 'database')} + 1 for initial copies = ${needed} needed; 3x${databases}+2 = ${full} for full speed`,
  };
}

export function buildRaiseReplicationSlotsFix(
  settings: PostgresqlServerSettings,
  used: readonly ReplicationSlot[],
  databases: number,
  least: number,
) {
  const wanted = Math.max(used.length + computeReplicationSlotDemand(databases).full, least);
  const idle = used.filter(({ active }) => !active).length;
  const spare =
    idle === 0 ? '' : `${countOf(idle, 'slot in use is', 'slots in use are')} inactive: drop unused slots instead.`;
  return alterSystemFix(settings, { max_replication_slots: String(wanted) }, spare);
}

import { formatBytes, formatDuration } from '../../../../base/text.ts';
import type { WatchRuleViolation } from '../../status-sample.ts';
import { findWatchedSlot, type PostgresqlWatchRule } from '../rule-input.ts';

/** The rule for WAL that a slot retains until the slot is lost or the disk is full. */
export const retainedWalWatchRule: PostgresqlWatchRule = ({ slots, window, now, first }) =>
  slots.flatMap(({ name, database, slot }): readonly WatchRuleViolation[] => {
    if (slot === undefined || slot.walStatus === undefined || !['extended', 'unreserved'].includes(slot.walStatus))
      return [];
    const before = window[0] ?? first;
    const seconds = (now.at - before.at) / 1000;
    const grown = (slot.retained ?? 0) - (findWatchedSlot(before, name)?.retained ?? slot.retained ?? 0);
    const rate = seconds > 0 ? grown / seconds : 0;
    if (slot.walStatus === 'extended' && rate <= 0) return [];
    const kept = `${formatBytes(slot.retained ?? 0)} of WAL are retained for the slot ${name} (${slot.walStatus})`;
    const growing = rate > 0 ? `, growing by ${formatBytes(rate)}/s` : '';
    const lost =
      slot.safeWalBytes === undefined || rate <= 0
        ? ''
        : `; the slot is lost in ${formatDuration((Math.max(0, slot.safeWalBytes) / rate) * 1000)}`;
    return [
      {
        rule: 'wal-disk',
        database,
        observed: `${kept}${growing}${lost}`,
        hint:
          slot.safeWalBytes === undefined
            ? 'lower the load on the source, or stop the migration before the disk is full'
            : 'raise max_slot_wal_keep_size as far as the disk allows and run SELECT pg_reload_conf()',
      },
    ];
  });

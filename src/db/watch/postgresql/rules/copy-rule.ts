import { formatDuration } from '../../../../base/text.ts';
import type { WatchRuleViolation } from '../../status-sample.ts';
import { isTableSyncSlot } from '../choose-slots.ts';
import { findWatchedSlot, type PostgresqlWatchRule, selectWatchSamplesSince } from '../rule-input.ts';
import { suggestedApplyStopDiagnosisQuery } from './apply-failure-rule.ts';

/**
 * The rule for a table whose initial copy fails: its slot remains, but its worker is rarely observed, because each
 * attempt fails at once and the next attempt starts five seconds later.
 */
export const copyFailureWatchRule: PostgresqlWatchRule = ({ now, window, limits, databases }) => {
  const samples = selectWatchSamplesSince(window, limits.failingApply);
  if (samples === undefined) return [];
  return now.slots.filter(isTableSyncSlot).flatMap(({ name, database }): readonly WatchRuleViolation[] => {
    if (database === undefined || !databases.some((one) => one.name === database)) return [];
    const stays = samples.filter((facts) => findWatchedSlot(facts, name) !== undefined).length >= 0.8 * samples.length;
    const worked = samples.filter(({ senders }) => senders.some(({ application }) => application === name)).length;
    if (!stays || worked > 0.2 * samples.length) return [];
    return [
      {
        rule: 'copy-failing',
        database,
        observed: `the initial copy of a table has failed repeatedly for ${formatDuration(now.at - samples[0]!.at)}`,
        object: name,
        fix: suggestedApplyStopDiagnosisQuery,
        hint: 'empty the table on the target, and check it for missing columns and constraints (rows written there cause duplicate keys)',
      },
    ];
  });
};

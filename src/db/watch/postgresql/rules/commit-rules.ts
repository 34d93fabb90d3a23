import { formatDuration } from '../../../../base/text.ts';
import type { WatchRuleViolation } from '../../status-sample.ts';
import { findWatchedSlot, type PostgresqlWatchRule, selectWatchSamplesSince } from '../rule-input.ts';
import type { WatchedServerFacts } from '../server-facts.ts';

/** The rule for commits of the application that wait for a synchronous standby. */
export const blockedCommitsWatchRule: PostgresqlWatchRule = ({ now, window }) => {
  const before = window.at(-2);
  if (now.blocked.commits === 0 || before === undefined || before.blocked.commits === 0) return [];
  return [
    {
      rule: 'commits-blocked',
      observed: `${now.blocked.commits} commits wait for a synchronous standby, the oldest for ${formatDuration(now.blocked.seconds * 1000)}`,
      hint: "synchronous_standby_names includes the target: list only the real standbys, or ALTER SYSTEM SET synchronous_standby_names = '' and reload",
    },
  ];
};

/** The number of rollbacks below which the rule reports nothing. */
const minRollbacks = 10;

/**
 * The rule for a rising share of rollbacks, which shows that statements of the application fail. A WAL sender counts
 * all transactions that it decoded as rollbacks when it ends, so only samples with the same WAL sender are compared,
 * less the decoded transactions.
 */
export const rollbackRateWatchRule: PostgresqlWatchRule = ({ slots, databases, window, first, limits }) =>
  slots.flatMap(({ name, database }): readonly WatchRuleViolation[] => {
    const samples = selectWatchSamplesSince(window, Math.min(limits.failingApply, limits.inactiveSlot)) ?? window;
    const [from, to] = [samples[0], samples.at(-1)];
    if (from === undefined || to === undefined || from === to || !hasSameWalSender(samples, name)) return [];
    const counted = countTransactions(from, to, database, name);
    const before = transactionCountsOf(first, database);
    const usual = before === undefined ? 0 : before.rollbacks / Math.max(1, before.commits + before.rollbacks);
    const share = counted.rollbacks / Math.max(1, counted.commits + counted.rollbacks);
    if (counted.rollbacks < minRollbacks || share < Math.max(0.05, 5 * usual)) return [];
    const shapes = databases.find((one) => one.name === database)?.shapes;
    const keyless = [...(shapes?.now.values() ?? [])]
      .filter(({ hasReplicaIdentity }) => !hasReplicaIdentity)
      .map(({ schema, table }) => `${schema}.${table}`);
    const suspects = keyless.length === 0 ? '' : `; without a replica identity: ${keyless.slice(0, 5).join(', ')}`;
    return [
      {
        rule: 'rollbacks',
        database,
        observed: `${counted.rollbacks} transactions failed in ${formatDuration(to.at - from.at)}, ${Math.round(100 * share)} % of all${suspects}`,
        hint: 'search the log of the source for "does not have a replica identity and publishes updates" and run ALTER TABLE … REPLICA IDENTITY FULL',
      },
    ];
  });

function hasSameWalSender(window: readonly WatchedServerFacts[], name: string): boolean {
  const pid = findWatchedSlot(window[0]!, name)?.pid;
  return pid !== undefined && window.every((facts) => findWatchedSlot(facts, name)?.pid === pid);
}

function countTransactions(from: WatchedServerFacts, to: WatchedServerFacts, database: string, slot: string) {
  const [before, after] = [transactionCountsOf(from, database), transactionCountsOf(to, database)];
  const decoded = (findWatchedSlot(to, slot)?.decoded ?? 0) - (findWatchedSlot(from, slot)?.decoded ?? 0);
  return {
    commits: (after?.commits ?? 0) - (before?.commits ?? 0),
    rollbacks: Math.max(0, (after?.rollbacks ?? 0) - (before?.rollbacks ?? 0) - Math.max(0, decoded)),
  };
}

function transactionCountsOf(facts: WatchedServerFacts, database: string) {
  return facts.databases.find(({ name }) => name === database);
}

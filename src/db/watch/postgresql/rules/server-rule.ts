import type { PostgresqlWatchRule } from '../rule-input.ts';

/** The rule for a server that was restarted, or that is no longer the primary. */
export const serverRestartOrRecoveryWatchRule: PostgresqlWatchRule = ({ now, first, window, limits }) => {
  const recovery =
    // Its hint ends the migration, so one poll is not enough.
    now.inRecovery && !first.inRecovery && window.at(-2)?.inRecovery === true
      ? [
          {
            rule: 'source-in-recovery',
            observed: 'the source is in recovery: it was demoted to a standby',
            hint: 'stop the migration and start it again from the new primary, which does not have the slot of the migration',
          },
        ]
      : [];
  const restart = window.findLastIndex(({ startedAt }) => startedAt !== now.startedAt);
  const seenAt = restart < 0 ? (first.startedAt === now.startedAt ? undefined : window[0]?.at) : window[restart]?.at;
  if (seenAt === undefined || now.at - seenAt > limits.restartNotice) return recovery;
  return [
    ...recovery,
    {
      rule: 'source-restarted',
      observed: `the source was restarted at ${now.startedAt}`,
      hint: 'check the log of the source if the target does not reconnect within seconds',
    },
  ];
};

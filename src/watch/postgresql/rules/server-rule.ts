import type { WatchRule } from '../rule-input.ts';

/** The server was restarted, or is no longer the primary. */
export const serverRule: WatchRule = ({ now, first, window, limits }) => {
  const recovery =
    now.inRecovery && !first.inRecovery
      ? [
          {
            rule: 'source-in-recovery',
            observed: 'the source is a standby now: it was failed over or demoted',
            hint: 'point the migration to the new primary, which has no slot of it: stop it and start it again',
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
      hint: 'the target connects again by itself within seconds; if it does not, look at the log of the source',
    },
  ];
};

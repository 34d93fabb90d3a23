import { formatCount } from '../../../../base/text.ts';
import { infoNumber, parseKeyspace } from '../../../../redis/info.ts';
import { passOutcome, skipOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { declareRedisCheck, redisAdministrator } from '../check.ts';
import { infoQuery } from '../queries.ts';

/** Seconds; a smaller difference may be that of this machine, or the time that a reply takes. */
const tolerance = 60;

export const clockCheck = declareRedisCheck({
  id: 'clock',
  title: 'the clock of the source agrees with that of this machine',
  headline: 'The clock of the source differs from that of this machine',
  severity: { continuous: 'blocker' },
  queries: { info: infoQuery },
  evaluate({ info }, { clockOffset }) {
    if (clockOffset === undefined) return skipOutcome('the server does not report its time');
    const seconds = Math.round(clockOffset / 1000);
    if (Math.abs(seconds) <= tolerance) return passOutcome(`a difference of at most ${tolerance} s`);
    const observed = `${formatCount(Math.abs(seconds))} s ${seconds < 0 ? 'behind' : 'ahead of'} this machine`;
    const fix = { by: redisAdministrator, text: 'Correct the clock of the source, or that of this machine (NTP).' };
    const details = {
      required: `a difference of at most ${tolerance} s`,
      detail:
        'A copy contains the time at which each key expires. On a target whose clock is ahead of the source keys expire too early, on one whose clock is behind too late. A scan copies the time that is left.',
    };
    const hasExpiries =
      (infoNumber(info, 'expired_keys') ?? 0) > 0 ||
      parseKeyspace(info).some(({ expires, subexpiry }) => expires + subexpiry > 0);
    if (!hasExpiries) return warnOutcome(`${observed}, and no key expires`, { ...details, fix });
    return {
      ...unknownOutcome(observed, fix),
      ...details,
      premise: 'the clock of the target agrees with that of the source',
      settledBy: '--accept clock',
    };
  },
});

import { countOf } from '../../../../base/text.ts';
import { infoNumber } from '../../../../redis/info.ts';
import { passOutcome, skipOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { markOptional, valueOr } from '../../query.ts';
import { declareRedisCheck, isSentinel, outcomeWithoutValue, redisAdministrator, sentinelReason } from '../check.ts';
import { infoQuery, sentinelsQuery } from '../queries.ts';

/**
 * A Sentinel finds the replicas of its primary in INFO, so also the target. It makes a replica that was promoted by hand a
 * replica again (https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/).
 */
export const sentinelCheck = declareRedisCheck({
  id: 'sentinel',
  title: 'no Sentinel takes the target for a replica of the source',
  headline: 'A Sentinel monitors the source',
  severity: { continuous: 'blocker' },
  queries: { info: markOptional(infoQuery), sentinels: markOptional(sentinelsQuery) },
  evaluate({ info, sentinels }) {
    if (isSentinel(info)) return skipOutcome(sentinelReason);
    const fields = valueOr(info, undefined);
    // Every Redis and Valkey reports its channels; the replacements that do not have no Sentinel.
    if (fields !== undefined && (infoNumber(fields, 'pubsub_channels') ?? 0) === 0) return passOutcome('no Sentinel');
    if (sentinels.kind !== 'known') return outcomeWithoutValue(sentinels, { mayBlock: [] });
    if (sentinels.value === 0) return passOutcome('no Sentinel');
    const observed = countOf(sentinels.value, 'Sentinel');
    if (fields?.get('role') === 'slave') {
      return warnOutcome(observed, {
        required: 'no failover to this server during the migration',
        detail:
          'The Sentinels read the replicas of the primary only. If they promote this server, they take the target for its replica, and can make it a replica again after the cut-over.',
        fix: { text: 'Prevent the promotion: CONFIG SET replica-priority 0 until the cut-over.' },
      });
    }
    return {
      ...unknownOutcome(observed, {
        by: redisAdministrator,
        text: 'Make sure that the Sentinels cannot log in to the target (another password than their auth-pass), and use --accept sentinel. Otherwise run SENTINEL MASTER NAME on every Sentinel, note its values, and run SENTINEL REMOVE NAME just before the cut-over. Until SENTINEL MONITOR and SENTINEL SET have restored the values there is no failover, and clients that ask a Sentinel find no primary.',
      }),
      required: 'no Sentinel, or none that can log in to the target',
      detail:
        'A Sentinel takes the target for a replica of the source. If it can log in there, it makes the target a replica again some seconds after the cut-over (`+convert-to-slave`), which deletes every write since then; a failover may promote the target.',
      premise: 'no Sentinel can log in to the target',
      settledBy: '--accept sentinel',
    };
  },
});

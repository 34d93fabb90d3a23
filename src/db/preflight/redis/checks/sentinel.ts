import { countOf } from '../../../../base/text.ts';
import { infoNumber } from '../../../../redis/info.ts';
import { passOutcome, skipOutcome, unknownOutcome } from '../../finding.ts';
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
    if (sentinels.kind !== 'known') return outcomeWithoutValue(sentinels);
    if (sentinels.value === 0) return passOutcome('no Sentinel');
    const isReplica = fields?.get('role') === 'slave';
    return {
      ...unknownOutcome(countOf(sentinels.value, 'Sentinel'), {
        by: redisAdministrator,
        text: `On every Sentinel, before the migration: SENTINEL REMOVE NAME, with the name of ${isReplica ? 'its primary' : 'this primary'} (SENTINEL MASTERS). There is no failover until SENTINEL MONITOR is run again.`,
      }),
      required: 'no Sentinel, or none that can log in to the target',
      detail:
        'A Sentinel takes the target for a replica of the source. If it can log in there, it makes the target a replica again after the cut-over, which deletes every write since then; a failover may promote the target.',
      premise: 'no Sentinel can log in to the target',
      settledBy: '--accept sentinel',
    };
  },
});

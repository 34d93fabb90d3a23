import { countOf } from '../../../base/text.ts';
import { passOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabasePreflightCheck } from '../check.ts';
import { buildUnlistedObjectsNote, limitFindingObjects } from '../listed-objects.ts';
import { subscriptionsQuery } from '../queries/subscriptions.ts';

export const subsExistingCheck = declareDatabasePreflightCheck({
  id: 'subs-existing',
  title: 'the database has no subscriptions',
  headline: 'The database has subscriptions',
  severity: { continuous: 'warning', dump: 'warning' },
  queries: { subscriptions: subscriptionsQuery },
  evaluate({ subscriptions }, database) {
    const own = subscriptions.filter((subscription) => subscription.database === database);
    if (own.length === 0) return passOutcome('none');
    return warnOutcome(countOf(own.length, 'subscription'), {
      required: 'none',
      detail: `The database receives changes from another server. The changes are replicated to the target, the subscription is not: pg_dump reports "subscriptions not dumped because current user is not a superuser", or the subscription is restored disabled. If the target also publishes the same data to that server, changes are replicated in a loop.${buildUnlistedObjectsNote(own)}`,
      objects: limitFindingObjects(own).map(({ name, enabled }) => (enabled ? name : `${name} (disabled)`)),
      fix: {
        by: 'the replication administrator',
        text: 'If the target needs the subscription, create it there; disable the subscription of the source before the cut-over: ALTER SUBSCRIPTION … DISABLE.',
      },
    });
  },
});

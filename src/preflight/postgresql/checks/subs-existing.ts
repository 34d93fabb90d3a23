import { pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { subscriptionsQuery } from '../queries/subscriptions.ts';
import { countText } from '../units.ts';

export const subsExistingCheck = databaseCheck({
  id: 'subs-existing',
  title: 'the database has no subscriptions',
  headline: 'The database has subscriptions',
  severity: { continuous: 'warning', dump: 'warning' },
  queries: { subscriptions: subscriptionsQuery },
  evaluate({ subscriptions }, database) {
    const own = subscriptions.filter((subscription) => subscription.database === database);
    if (own.length === 0) return pass('none');
    return warn(countText(own.length, 'subscription'), {
      required: 'none',
      detail: `The database receives changes itself. They are passed on, but the subscription stays behind: pg_dump says "subscriptions not dumped because current user is not a superuser", or the target takes it over disabled. Where the target becomes a source of the same data, changes run in a circle.${unlistedNote(own)}`,
      objects: firstObjects(own).map(({ name, enabled }) => (enabled ? name : `${name} (disabled)`)),
      fix: {
        by: 'who runs the replication',
        text: 'Decide who the new subscriber is, and disable the subscription before the cut-over: ALTER SUBSCRIPTION … DISABLE.',
      },
    });
  },
});

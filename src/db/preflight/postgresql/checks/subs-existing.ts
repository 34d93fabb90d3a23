import { countOf } from '../../../../base/text.ts';
import { passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { column, columns, rowsQuery } from '../query.ts';

/**
 * The subscriptions of all databases, because pg_subscription is a shared catalog. The query names each column that it
 * needs instead of `*`, because ordinary roles cannot read the column subconninfo.
 */
const subscriptionsQuery = rowsQuery({
  id: 'subscriptions',
  scope: 'server',
  sql: (version) =>
    version < 100_000
      ? undefined
      : `
        SELECT d.datname, s.subname, s.subenabled
        FROM pg_subscription s
        JOIN pg_database d ON d.oid = s.subdbid
        ORDER BY s.subname
      `,
  row: columns({
    database: column.text('datname'),
    name: column.text('subname'),
    enabled: column.boolean('subenabled'),
  }),
});

export const subsExistingCheck = declareDatabaseCheck({
  id: 'subs-existing',
  title: 'the database has no subscriptions',
  headline: 'The database has subscriptions',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { subscriptions: subscriptionsQuery },
  evaluate({ subscriptions }, database, _facts, { target }) {
    const own = subscriptions.filter((subscription) => subscription.database === database);
    if (own.length === 0) return passOutcome('none');
    const observed = countOf(own.length, 'subscription');
    const more = {
      required: 'none',
      detail: `The database receives changes from another server. The changes are replicated to the target, the subscription is not: pg_dump reports "subscriptions not dumped because current user is not a superuser", or the subscription is restored disabled. If the target also publishes the same data to that server, changes are replicated in a loop.${unlistedNote(own)}`,
      objects: limitObjects(own).map(({ name, enabled }) => (enabled ? name : `${name} (disabled)`)),
      fix: {
        by: 'the replication administrator',
        text: 'If the target needs the subscription, create it there; disable the subscription of the source before the cut-over: ALTER SUBSCRIPTION … DISABLE.',
      },
    };
    if (target?.postgresql?.isSuperuser !== false) return warnOutcome(observed, more);
    // The connection string is shown to superusers only.
    return {
      ...unknownOutcome(observed),
      ...more,
      premise: 'the migration continues without the subscriptions, or their connection strings have a password',
      settledBy: '--accept subs-existing',
    };
  },
});

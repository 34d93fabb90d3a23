import { info, pass, warn } from '../finding.ts';
import { publications } from './asks/publications.ts';
import { subscriptions } from './asks/subscriptions.ts';
import { databaseCheck } from './check.ts';
import { isMigrationPublication } from './leftovers.ts';
import { shown, unlisted } from './names.ts';
import { count } from './units.ts';

export const subsExisting = databaseCheck({
  id: 'subs-existing',
  title: 'the database subscribes to nothing',
  asks: { subscriptions },
  judge({ subscriptions }, database) {
    const own = subscriptions.filter((subscription) => subscription.database === database);
    if (own.length === 0) return pass('none');
    return warn(count(own.length, 'subscription'), {
      required: 'none',
      detail: `The database receives changes itself. They are passed on, but the subscription stays behind: pg_dump says "subscriptions not dumped because current user is not a superuser", or the target takes it over disabled. Where the target becomes a source of the same data, changes run in a circle.${unlisted(own)}`,
      objects: shown(own).map(({ name, enabled }) => (enabled ? name : `${name} (disabled)`)),
      fix: {
        by: 'who runs the replication',
        text: 'Decide who the new subscriber is, and disable the subscription before the cut-over: ALTER SUBSCRIPTION … DISABLE.',
      },
    });
  },
});

export const pubExisting = databaseCheck({
  id: 'pub-existing',
  title: 'the database publishes nothing',
  asks: { publications },
  judge({ publications }) {
    // What an earlier migration left is judged as a leftover.
    const own = publications.filter(({ name }) => !isMigrationPublication(name));
    if (own.length === 0) return pass('none');
    const all = own.filter(({ allTables }) => allTables).length;
    return info(count(own.length, 'publication'), {
      detail: `Somebody else receives changes of this database, and has to be told of the move. Publications are restored on the target too; their slots are not.${all === 0 ? '' : ' One FOR ALL TABLES makes the rules of replica identity hold already.'}${unlisted(own)}`,
      objects: shown(own).map(({ name, allTables }) => (allTables ? `${name} (FOR ALL TABLES)` : name)),
    });
  },
});

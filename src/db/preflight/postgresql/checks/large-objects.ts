import { countOf } from '../../../../base/text.ts';
import { infoOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { largeObjectLimit, largeObjectsQuery, largeObjectUsesQuery } from '../queries/privileges.ts';

export const largeObjectsCheck = declareDatabaseCheck({
  id: 'large-objects',
  title: 'the database has no large objects',
  headline: 'Large objects are copied only when the migration is stopped',
  severity: { continuous: 'warning', dump: 'info' },
  queries: { largeObjects: largeObjectsQuery, uses: largeObjectUsesQuery },
  evaluate({ largeObjects, uses }, _database, _ground, { method }) {
    if (largeObjects === 0 && (uses.length === 0 || method === 'dump')) return passOutcome('none');
    const observed =
      largeObjects > largeObjectLimit
        ? `more than ${largeObjectLimit} large objects`
        : largeObjects === 0
          ? `none so far, and ${countOf(uses.length, 'function or column', 'functions and columns')} for them`
          : countOf(largeObjects, 'large object');
    if (method === 'dump') return infoOutcome(observed, { detail: 'A dump contains large objects.' });
    return warnOutcome(observed, {
      required: 'none',
      objects: limitObjects(uses),
      detail: `Logical replication does not replicate large objects, without an error. They are copied when the migration is stopped; until then columns with OIDs of large objects refer to large objects that do not exist on the target. A service that does not copy them loses them.${unlistedNote(uses)}`,
      dataLoss: `${largeObjects === 0 ? 'new large objects' : observed} until the migration is stopped`,
      fix: {
        by: 'the operator of the cut-over',
        text: 'Stop the application before the migration is stopped, and see the line large_objects of `cloudctl db cutover`: copy the ones that it lists with lo_export and lo_import.',
      },
    });
  },
});

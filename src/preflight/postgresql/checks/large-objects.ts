import { countOf } from '../../../base/text.ts';
import { infoOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabasePreflightCheck } from '../check.ts';
import { largeObjectCountLimit, largeObjectsQuery } from '../queries/large-objects.ts';

export const largeObjectsCheck = declareDatabasePreflightCheck({
  id: 'large-objects',
  title: 'the database has no large objects',
  headline: 'The database has large objects',
  severity: { continuous: 'warning', dump: 'info' },
  queries: { largeObjects: largeObjectsQuery },
  evaluate({ largeObjects }, _database, _ground, { method }) {
    if (largeObjects === 0) return passOutcome('none');
    const observed =
      largeObjects > largeObjectCountLimit
        ? `more than ${largeObjectCountLimit} large objects`
        : countOf(largeObjects, 'large object');
    if (method === 'dump') return infoOutcome(observed, { detail: 'A dump contains large objects.' });
    return warnOutcome(observed, {
      required: 'none',
      detail:
        'Logical replication does not replicate large objects, without an error. Columns with OIDs of large objects are replicated and then refer to large objects that do not exist.',
      dataLoss: observed,
      fix: {
        by: 'the data owner',
        text: 'Copy the large objects at the cut-over (lo_export and lo_import, or pg_dump --large-objects, before PostgreSQL 16 --blobs), move their contents into bytea columns, or migrate with a dump.',
      },
    });
  },
});

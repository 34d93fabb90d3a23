import { info, pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { largeObjectCountLimit, largeObjectsQuery } from '../queries/large-objects.ts';
import { countText } from '../units.ts';

export const largeObjectsCheck = databaseCheck({
  id: 'large-objects',
  title: 'the database has no large objects',
  headline: 'The database has large objects',
  severity: { continuous: 'warning', dump: 'info' },
  queries: { largeObjects: largeObjectsQuery },
  evaluate({ largeObjects }, _database, _ground, { method }) {
    if (largeObjects === 0) return pass('none');
    const observed =
      largeObjects > largeObjectCountLimit
        ? `more than ${largeObjectCountLimit} large objects`
        : countText(largeObjects, 'large object');
    if (method === 'dump') return info(observed, { detail: 'A dump carries them over.' });
    return warn(observed, {
      required: 'none',
      detail:
        'Logical replication does not know large objects: none arrives, and nobody says so. Columns that hold their oids do arrive, and point nowhere.',
      dataLoss: observed,
      fix: {
        by: 'who owns the data',
        text: 'Copy them at the cut-over (lo_export and lo_import, or pg_dump --large-objects, called --blobs before 16), move them into bytea columns, or migrate with the dump.',
      },
    });
  },
});

import { countOf } from '../../../../base/text.ts';
import { passOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { databasesQuery } from '../queries/cluster.ts';

/** This check always passes, because an unknown name in --ignore-dbs is a usage error before any check runs. */
export const ignoredDatabasesExistCheck = declareServerCheck({
  id: 'ignore-unknown',
  title: 'every database in --ignore-dbs exists',
  headline: 'A database in --ignore-dbs does not exist',
  severity: {},
  queries: { databases: databasesQuery },
  evaluate: (_values, _ground, options) =>
    passOutcome(
      options.ignoreDbs.length === 0 ? 'none ignored' : `${countOf(options.ignoreDbs.length, 'database')} ignored`,
      {
        ...(options.ignoreDbs.length === 0 ? {} : { objects: options.ignoreDbs }),
      },
    ),
});
